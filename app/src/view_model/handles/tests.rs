//! Handles against the engine's own check of the law that they make.

use super::super::arrivals::tests::{HORIZON_S, all};
use super::super::{length_kinds, rate_picture};
use goodput_engine::scenario::doc::RatePointDoc;

use super::*;
use crate::state::edit::tests::small_doc;

const LINE: Span = Span { low: 0.0, high: 600.0, log: false };
const DECADES: Frame =
    [Span { low: 10.0, high: 10_000.0, log: true }, Span { low: 0.0, high: 1.0, log: false }];
const INPUT: Target = Target::Lengths(Place::whole(Side::Input));

fn with_lengths(lengths: LengthsDoc) -> ClassDoc {
    let mut class = small_doc().workload.classes.remove(0);
    class.input_tokens = lengths;
    class
}

fn after(class: &ClassDoc, edit: &Edit) -> ClassDoc {
    let mut doc = small_doc();
    doc.workload.classes[0] = class.clone();
    edit.apply(&mut doc);
    doc.workload.classes.remove(0)
}

fn good(class: &ClassDoc) -> bool {
    arrivals_of(&class.arrivals).is_ok() && lengths_of(&class.input_tokens).is_ok()
}

#[test]
fn no_handle_of_any_law_can_be_dragged_into_a_contradiction() {
    let start = LengthsDoc::lognormal(512.0, 2_391.0);
    let kinds = ["uniform", "gamma", "pareto", "quantiles"];
    let laws = kinds.into_iter().filter_map(|kind| length_kinds::as_kind(&start, kind));
    let forms = ["p50_p90", "p5_p95", "mean_sd", "p50_sigma"].into_iter();
    let forms = forms.filter_map(|form| length_kinds::as_form(&start, form));
    let mut handles = 0;
    for law in laws.chain(forms).chain([start.clone()]) {
        let class = with_lengths(law);
        for grip in grips(&class, INPUT, &DECADES) {
            for by in [-3.0, -0.4, -0.05, 0.05, 0.4, 3.0] {
                let edit = grip.dragged((0, &class), INPUT, &DECADES, [by, 0.0]);
                let moved = after(&class, &edit);
                assert!(good(&moved), "{grip:?} by {by}: {moved:?}");
                handles += 1;
            }
        }
    }
    assert!(handles > 80, "{handles}");
}

#[test]
fn a_handle_stops_before_its_neighbour_and_says_how_far_it_goes() {
    let class = with_lengths(LengthsDoc::quantiles(&[(0.0, 50.0), (0.5, 200.0), (0.9, 900.0)]));
    let all = grips(&class, INPUT, &DECADES);
    let (low, high) = all[1].reach[0].expect("it moves across");
    assert!((50.0..60.0).contains(&low) && (800.0..=900.0).contains(&high), "{all:?}");
    let edit = all[1].dragged((0, &class), INPUT, &DECADES, [0.9, 0.0]);
    let moved = grips(&after(&class, &edit), INPUT, &DECADES);
    assert_eq!(moved[1].at[0].to_bits(), high.to_bits());
    let back = moved[1].pushed((0, &class), INPUT, &DECADES, Push::End(false));
    let back = grips(&after(&class, &back.expect("an edit")), INPUT, &DECADES);
    assert_eq!(back[1].at[0].to_bits(), low.to_bits());
}

#[test]
fn every_step_of_a_key_moves_a_handle() {
    let class = with_lengths(LengthsDoc::Uniform { min: 3, max: 4_000, mean: None, sd: None });
    for steps in [-1, 1] {
        let grip = &grips(&class, INPUT, &DECADES)[0];
        let edit = grip.pushed((0, &class), INPUT, &DECADES, Push::By(steps, 0));
        let moved = after(&class, &edit.expect("an edit"));
        let LengthsDoc::Uniform { min, .. } = moved.input_tokens else { panic!("{moved:?}") };
        assert_eq!(i64::from(min), i64::from(3 + steps));
    }
}

#[test]
fn the_handles_of_a_rate_are_on_its_line_and_move_it() {
    for arrivals in all() {
        let mut doc = small_doc();
        doc.workload.horizon_s = HORIZON_S;
        doc.workload.classes[0].arrivals = arrivals;
        let Some(preview) = rate_picture::preview(&doc, 0, None) else { continue };
        let frame = preview.frame.expect("axes");
        let class = &doc.workload.classes[0];
        for grip in grips(class, Target::Arrivals, &frame) {
            for by in [[0.3, 0.0], [0.0, 0.2], [-2.0, -2.0], [2.0, 2.0]] {
                let edit = grip.dragged((0, class), Target::Arrivals, &frame, by);
                let moved = after(class, &edit);
                assert!(good(&moved), "{grip:?} by {by:?}: {moved:?}");
                let room = grip.reach[0].is_some_and(|(_, high)| high > grip.at[0]);
                let goes = room && by[0] > 0.0 || grip.reach[1].is_some() && by[1] > 0.0;
                assert!(!goes || moved != *class, "{grip:?} by {by:?}");
            }
        }
    }
}

#[test]
fn a_wave_keeps_its_amplitude_when_its_mean_is_moved_and_its_mean_otherwise() {
    let mut class = with_lengths(LengthsDoc::Fixed { tokens: 9 });
    let noise = goodput_engine::scenario::doc::NoiseDoc::Poisson;
    class.arrivals =
        ArrivalsDoc::Sinusoid { min_rps: 10.0, max_rps: 30.0, period_s: 300.0, phase: 0.0, noise };
    let frame = [LINE, Span { low: 0.0, high: 60.0, log: false }];
    let rates = |grip: usize, up: i32| {
        let grip = &grips(&class, Target::Arrivals, &frame)[grip];
        let edit = grip.pushed((0, &class), Target::Arrivals, &frame, Push::By(0, up));
        match after(&class, &edit.expect("an edit")).arrivals {
            ArrivalsDoc::Sinusoid { min_rps, max_rps, .. } => (min_rps, max_rps),
            other => panic!("{other:?}"),
        }
    };
    let same = |a: (f64, f64), b: (f64, f64)| (a.0 - b.0).abs() + (a.1 - b.1).abs() < 1e-9;
    assert!(same(rates(0, 4), (12.0, 32.0)), "{:?}", rates(0, 4));
    assert!(same(rates(1, 4), (8.0, 32.0)), "{:?}", rates(1, 4));
    assert!(same(rates(0, -1_000), (0.0, 20.0)), "it stops where the lowest is nothing");
}

#[test]
fn a_point_is_added_where_it_is_wanted_and_in_order() {
    let point = |t_s, rate_rps| RatePointDoc { t_s, rate_rps };
    let noise = goodput_engine::scenario::doc::NoiseDoc::Poisson;
    let points = vec![point(0.0, 10.0), point(100.0, 20.0), point(600.0, 5.0)];
    let profile = ArrivalsDoc::Profile { points, noise };
    let frame = [LINE, Span { low: 0.0, high: 40.0, log: false }];
    let added = with_point(&profile, &frame, [0.5, 0.25]).expect("a point");
    assert_eq!(added[2], point(300.0, 10.0));
    assert_eq!(widest(&profile, 600.0), 1);
    assert_eq!(widest(&profile, 150.0), 0, "beyond the horizon nobody looks");
}
