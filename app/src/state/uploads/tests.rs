//! Files through their life: read, refused, told about, left out, used, lost.

use goodput_engine::ingest;
use goodput_engine::problem::Severity;
use goodput_engine::review::Finding;
use goodput_engine::scenario::doc::FittedScaleDoc;

use super::*;
use crate::state::edit::tests::small_doc;

const TABLE: &str = "request_rate_rps,mean_input_tokens,mean_output_tokens,tpot_mean_ms,gpu\n\
                     2,512,128,9.5,H100\n4,512,128,10.5,H100\n8,512,128,14,H100\n";

fn read_of(name: &str, text: &str) -> Arc<ReadFile> {
    Arc::new(ReadFile {
        file: ingest::read_file(name, text.as_bytes()),
        sha256: Some("ab12".to_owned()),
        trace: None,
        lengths: None,
        requests: 0,
        findings: Vec::new(),
    })
}

fn with_table(findings: Vec<Finding>) -> (Uploads, FileId) {
    let mut uploads = Uploads::default();
    let id = uploads.add("rows.csv");
    let mut read = read_of("rows.csv", TABLE);
    Arc::make_mut(&mut read).findings = findings;
    uploads.reduce(Event::Read(id, read));
    (uploads, id)
}

fn error_at(row: Option<u64>) -> Finding {
    Finding {
        code: "made_up".to_owned(),
        severity: Severity::Error,
        file: "rows.csv".to_owned(),
        row,
        message: "the numbers disagree".to_owned(),
        numbers: Vec::new(),
        advice: String::new(),
    }
}

fn tell(uploads: &mut Uploads, id: FileId, answers: &[(Fact, &str)]) {
    for (fact, text) in answers {
        let told = Told { text: (*text).to_owned(), guessed: false };
        uploads.reduce(Event::Told(id, *fact, told));
    }
}

const ANSWERS: [(Fact, &str); 3] =
    [(Fact::GpuCount, "1"), (Fact::TensorParallel, "1"), (Fact::Model, "llama-3.1-8b")];

#[test]
fn files_of_one_name_stay_apart() {
    let mut uploads = Uploads::default();
    for expected in ["a.json", "a.json (2)", "a.json (3)"] {
        let id = uploads.add("a.json");
        assert_eq!(uploads.file(id).map(|file| file.name.as_str()), Some(expected));
        assert_eq!(uploads.said, format!("Reading {expected}"));
    }
    assert!(uploads.is_reading());
}

#[test]
fn a_refused_file_says_why_and_touches_no_other() {
    let (mut uploads, first) = with_table(Vec::new());
    let before = uploads.file(first).cloned();
    let bad = uploads.add("broken.json");
    uploads.reduce(Event::Read(bad, read_of("broken.json", "{\"a\": ")));
    assert!(uploads.said.starts_with("broken.json was not read: "), "{}", uploads.said);
    assert_eq!(uploads.file(first).cloned(), before);
    assert!(!uploads.is_reading());
}

#[test]
fn words_about_a_file_that_is_gone_change_nothing() {
    let (mut uploads, id) = with_table(Vec::new());
    uploads.reduce(Event::Removed(id));
    let empty = uploads.clone();
    for event in [
        Event::Read(id, read_of("rows.csv", TABLE)),
        Event::Failed(id, "no".into()),
        Event::LeftOut(id, 0, true),
        Event::Using(id, TraceForm::Replay),
    ] {
        uploads.reduce(event);
        assert_eq!(uploads, empty);
    }
    assert_eq!(uploads.files().len(), 0);
}

#[test]
fn a_death_loses_the_file_it_happened_over_and_nothing_else() {
    let (mut uploads, read) = with_table(Vec::new());
    let (bad, waiting) = (uploads.add("bad.json"), uploads.add("next.json"));
    uploads.reduce(Event::Using(read, TraceForm::Replay));
    uploads.reduce(Event::Died(Some(bad), "unreachable".into()));
    let status = |id| uploads.file(id).map(|file| file.status.clone());
    assert!(matches!(status(bad), Some(Status::Failed(why)) if why.contains("unreachable")));
    assert_eq!(status(waiting), Some(Status::Reading), "the next reader has it");
    assert!(matches!(status(read), Some(Status::Read(_))));
    let used = uploads.file(read).and_then(|file| file.used.clone());
    assert!(matches!(used, Some(Used::Failed(_))), "{used:?}");
}

#[test]
fn a_fit_waits_for_what_the_file_does_not_say_and_then_has_it() {
    let (mut uploads, id) = with_table(Vec::new());
    let open = vec![NotReady { file: "rows.csv".into(), facts: ANSWERS.map(|a| a.0).to_vec() }];
    assert_eq!(fit_request(&uploads, 0), Some(Err(open)));
    tell(&mut uploads, id, &ANSWERS);
    let Some(Ok(request)) = fit_request(&uploads, 0) else { panic!("ready") };
    assert_eq!((request.points(), request.left_out.len()), (3, 0));
    let points = request.files[0].file.parsed.as_ref().map(|parsed| parsed.points().to_vec());
    for point in points.expect("points") {
        assert_eq!(point.context.model.as_deref(), Some("llama-3.1-8b"));
        assert_eq!(point.context.gpu.as_deref(), Some("H100"), "as the file says");
    }
    assert_eq!(request.files[0].sha256, "ab12");
    assert_eq!(fit_request(&Uploads::default(), 0), None);
}

#[test]
fn points_that_are_left_out_say_who_left_them_out() {
    let (mut uploads, id) = with_table(vec![error_at(Some(3))]);
    tell(&mut uploads, id, &ANSWERS);
    uploads.reduce(Event::LeftOut(id, 0, true));
    let Some(Ok(request)) = fit_request(&uploads, 0) else { panic!("ready") };
    let reasons: Vec<_> = request.left_out.iter().map(|p| (p.row, p.reason.as_str())).collect();
    let expected = [(Some(2), "left out by you"), (Some(3), "review: the numbers disagree")];
    assert_eq!(reasons, expected);
    assert_eq!(request.points(), 1);
    uploads.reduce(Event::LeftOut(id, 0, false));
    let Some(Ok(request)) = fit_request(&uploads, 0) else { panic!("ready") };
    assert_eq!(request.points(), 2);
}

#[test]
fn an_error_of_a_whole_file_leaves_all_its_points_out() {
    let (uploads, _) = with_table(vec![error_at(None)]);
    let Some(Ok(request)) = fit_request(&uploads, 0) else { panic!("nothing is to be told") };
    assert_eq!((request.points(), request.left_out.len()), (0, 3));
}

#[test]
fn a_fit_applies_until_the_replica_changes() {
    let doc = small_doc();
    let mut other = doc.clone();
    other.fleet.pools[0].replicas = 99;
    other.fleet.pools[0].price_per_gpu_hour = Some(1.0);
    other.workload.seed = 7;
    other.fleet.pools[0].step_time.fitted = Some(FittedScaleDoc {
        step_time_scale: 1.2,
        files: vec!["rows.csv".into()],
        fingerprint: "sha256:ab12".into(),
        points: 3,
        residual: 0.02,
    });
    other.fleet.pools[0].start_up_s = 60.0;
    assert!(applies(&doc, &other, 0));
    assert!(!applies(&doc, &other, 1), "there is no such pool");
    other.fleet.pools[0].max_num_seqs = 64;
    assert!(!applies(&doc, &other, 0));
}
