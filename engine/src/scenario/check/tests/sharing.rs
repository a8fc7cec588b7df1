//! Rules of shared prefixes and sessions.

use super::*;

fn prefix(tokens: u32, count: u32, name: &str) -> SharedPrefixDoc {
    SharedPrefixDoc { tokens, count, zipf_exponent: 0.0, name: name.to_owned() }
}

fn turns(turns: LengthsDoc) -> SessionDoc {
    SessionDoc { turns, think_time: ThinkTimeDoc::Fixed { s: 5.0 }, new_tokens: None }
}

/// Two classes with these prefixes and tenants.
fn two(prefixes: [SharedPrefixDoc; 2], tenants: [&str; 2]) -> ScenarioDoc {
    with(|doc| {
        let again = doc.workload.classes[0].clone();
        doc.workload.classes.push(again);
        for ((class, prefix), tenant) in doc.workload.classes.iter_mut().zip(prefixes).zip(tenants)
        {
            class.shared_prefix = Some(prefix);
            class.tenant = tenant.to_owned();
        }
        doc.workload.classes[1].name = "second".to_owned();
    })
}

#[test]
fn rules_of_shared_prefixes() {
    let one = |prefix: SharedPrefixDoc| class(|c| c.shared_prefix = Some(prefix));
    let steep = SharedPrefixDoc { zipf_exponent: -1.0, ..prefix(100, 3, "") };
    each_breaks_one_rule(vec![
        (one(prefix(0, 1, "")), "workload.classes[0].shared_prefix.tokens", "1 to 10,000,000"),
        (one(prefix(100, 0, "")), "workload.classes[0].shared_prefix.count", "1 to 100,000"),
        (one(steep), "workload.classes[0].shared_prefix.zipf_exponent", "all alike"),
        (
            one(prefix(1, 1, &"x".repeat(201))),
            "workload.classes[0].shared_prefix.name",
            "201 characters",
        ),
        (
            two([prefix(100, 3, "docs"), prefix(90, 3, "docs")], ["", ""]),
            "workload.classes[1].shared_prefix.tokens",
            "with tokens 100, not 90",
        ),
        (
            two([prefix(100, 3, "docs"), prefix(100, 4, "docs")], ["", ""]),
            "workload.classes[1].shared_prefix.count",
            "another name",
        ),
    ]);
}

#[test]
fn prefixes_of_one_name_and_tenant_are_the_same_and_no_others() {
    let firsts = |names: [&str; 2], tenants| {
        let doc = two(names.map(|name| prefix(100, 3, name)), tenants);
        let classes = check(&doc).unwrap().scenario.classes;
        let prefixes = classes.iter().filter_map(|class| class.shared_prefix);
        prefixes.map(|prefix| prefix.first()).collect::<Vec<_>>()
    };
    assert_eq!(firsts(["docs", " docs "], ["a", "a"]), [0, 0]);
    assert_eq!(firsts(["docs", "docs"], ["a", "b"]), [0, 3], "tenants share nothing");
    assert_eq!(firsts(["docs", "tools"], ["a", "a"]), [0, 3]);
    assert_eq!(firsts(["", ""], ["a", "a"]), [0, 3], "without a name they are the class's own");
}

#[test]
fn prompts_that_a_prefix_does_not_fit_into_are_told() {
    let doc = class(|c| {
        c.input_tokens = LengthsDoc::Uniform { min: 100, max: 199, mean: None, sd: None };
        c.shared_prefix = Some(prefix(149, 1, ""));
    });
    let warnings = check(&doc).unwrap().warnings;
    assert_eq!(warnings[0].path, "workload.classes[0].shared_prefix.tokens");
    assert!(warnings[0].message.starts_with("50 % of prompts"), "{}", warnings[0]);
}

#[test]
fn rules_of_sessions() {
    let session = |turns: SessionDoc| class(|c| c.session = Some(turns));
    let fixed = |tokens| LengthsDoc::Fixed { tokens };
    let beside = |change: fn(&mut ClassDoc)| {
        class(|c| {
            c.session = Some(turns(fixed(3)));
            change(c);
        })
    };
    let trace = || ArrivalsDoc::trace(vec![0.0, 1.0]);
    each_breaks_one_rule(vec![
        (session(turns(fixed(0))), "workload.classes[0].session.turns.tokens", "0 tokens"),
        (
            session(SessionDoc { new_tokens: Some(fixed(0)), ..turns(fixed(2)) }),
            "workload.classes[0].session.new_tokens.tokens",
            "0 tokens",
        ),
        (
            session(SessionDoc { think_time: ThinkTimeDoc::Fixed { s: -1.0 }, ..turns(fixed(2)) }),
            "workload.classes[0].session.think_time.s",
            "-1",
        ),
        (
            beside(|c| {
                let think_time = ThinkTimeDoc::Fixed { s: 1.0 };
                c.arrivals = ArrivalsDoc::ClosedLoop { users: 3, think_time };
            }),
            "workload.classes[0].session",
            "closed loop",
        ),
    ]);
    let recorded = class(|c| {
        c.arrivals = trace();
        c.input_tokens = LengthsDoc::recorded(vec![5, 6]);
        c.session = Some(turns(fixed(3)));
    });
    assert_eq!(errors(&recorded)[0].path, "workload.classes[0].session");
    let hidden = class(|c| {
        c.arrivals = trace();
        c.hidden_tokens = Some(HiddenTokensDoc::Added { tokens: Box::new(fixed(3)) });
        c.session = Some(turns(fixed(3)));
    });
    assert_eq!(errors(&hidden)[0].path, "workload.classes[0].session");
    let traced = class(|c| {
        c.arrivals = trace();
        c.session = Some(turns(LengthsDoc::recorded(vec![1, 3])));
    });
    assert_eq!(errors(&traced)[0].path, "workload.classes[0].session");
    let mix = check(&session(turns(fixed(3)))).unwrap().scenario;
    assert!(mix.mix().unwrap().len() > 2 * mix.offered().unwrap().len());
}
