//! Handles on a picture of the rail: dragged with the pointer, or moved with the arrow keys.
//!
//! A drag is one step of undo: what it takes along, the picture and the estimate, follows it; the
//! picture keeps its axes meanwhile, or they would run away from under the pointer.

use leptos::ev::{KeyboardEvent, MouseEvent, PointerEvent};
use leptos::html;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::{Element, HtmlElement};

use super::change;
use crate::browser;
use crate::controls::{Grasp, push_of};
use crate::state::edit::{ClassEdit, Edit, Typed};
use crate::state::workbench;
use crate::view_model::handles::{self, Frame, Grip, Target};

/// A picture with handles.
#[derive(Clone, Copy)]
pub struct Gripped {
    /// Of which class.
    pub index: usize,
    /// What it shows.
    pub target: Target,
    /// What that is called.
    pub label: &'static str,
    /// Its axes; `None` where there is no picture.
    pub frame: Memo<Option<Frame>>,
    /// The axes that it keeps while a handle is dragged.
    pub kept: RwSignal<Option<Frame>>,
}

/// All handles of a picture; lie over it.
pub fn grips(of: Gripped) -> AnyView {
    let bench = workbench();
    let grips = Memo::new(move |_| {
        let frame = of.frame.get()?;
        let doc = bench.doc();
        let class = doc.workload.classes.get(of.index)?;
        Some(handles::grips(class, of.target, &frame))
    });
    let count = Memo::new(move |_| grips.with(|grips| grips.as_ref().map_or(0, Vec::len)));
    // The picture may go while a handle of it is held.
    on_cleanup(move || bench.release(false));
    view! {
        <div class="grips" on:dblclick=move |ev| add_point(of, &ev)>
            {move || (0..count.get()).map(|i| handle(of, i, grips)).collect_view()}
        </div>
    }
    .into_any()
}

/// What is dragged: since when, and from where.
type Taken = (Grasp, Grip, Frame);

fn handle(of: Gripped, i: usize, grips: Memo<Option<Vec<Grip>>>) -> AnyView {
    let bench = workbench();
    let node = NodeRef::<html::Div>::new();
    let grip = move || grips.with(|grips| grips.as_ref()?.get(i).cloned());
    let taken = StoredValue::new(None::<Taken>);
    // All of them in one effect: a closure for each would be most of what a handle weighs.
    Effect::new(move |_| {
        if let (Some(node), Some(frame), Some(grip)) = (node.get(), of.frame.get(), grip()) {
            show(&node, of, &frame, &grip);
        }
    });
    let end = move |back: bool| {
        taken.set_value(None);
        bench.release(back);
        of.kept.set(None);
    };
    let press = move |ev: KeyboardEvent| match ev.key().as_str() {
        "Escape" if taken.with_value(Option::is_some) => {
            ev.prevent_default();
            end(true);
        }
        "Delete" | "Backspace" => remove_point(of, i),
        _ => push(of, &ev, untrack(grip)),
    };
    view! {
        <div
            node_ref=node
            id=format!("{}-{i}", id(of))
            role="slider"
            tabindex="0"
            data-testid=format!("{}-{i}", id(of))
            on:pointerdown=move |ev| {
                let frame = of.frame.get_untracked();
                let start = Grasp::of(&ev).zip(untrack(grip)).zip(frame);
                taken.set_value(start.map(|((grasp, grip), frame)| (grasp, grip, frame)));
                of.kept.set(frame);
                bench.hold();
            }
            on:pointermove=move |ev| taken.with_value(|taken| drag(of, &ev, taken.as_ref()))
            on:lostpointercapture=move |_| end(false)
            on:keydown=press
            on:blur=move |_| bench.seal()
        ></div>
    }
    .into_any()
}

/// Puts a handle where it belongs, and says what it is and how far it goes.
fn show(node: &HtmlElement, of: Gripped, frame: &Frame, grip: &Grip) {
    // Of two axes the upper one is the value that is said; the text says both.
    let axis = grip.axis();
    let (low, high) = grip.reach[axis].unwrap_or_default();
    let tall = of.target != Target::Arrivals;
    let text = grip.text(of.target);
    let attributes = [
        ("class", format!("grip {} {}", grip.cursor(), if tall { "tall" } else { "" })),
        ("aria-label", format!("{}: {}", of.label, grip.name)),
        ("title", format!("{}: {text}", grip.name)),
        ("aria-valuetext", text),
        ("aria-valuenow", grip.at[axis].to_string()),
        ("aria-valuemin", low.to_string()),
        ("aria-valuemax", high.to_string()),
    ];
    for (name, value) in attributes {
        let _never = node.set_attribute(name, &value);
    }
    let share = |axis: usize| frame[axis].share(grip.at[axis]).clamp(0.0, 1.0);
    let top = if tall { "12px".to_owned() } else { format!("{:.2}%", 100.0 * (1.0 - share(1))) };
    for (name, value) in [("left", format!("{:.2}%", 100.0 * share(0))), ("top", top)] {
        let _never = node.style().set_property(name, &value);
    }
}

/// A piece of element ids.
fn id(of: Gripped) -> String {
    match of.target {
        Target::Arrivals => format!("grip-arrivals-{}", of.index),
        Target::Lengths(place) => format!("grip-{}-{}", place.id(), of.index),
    }
}

fn drag(of: Gripped, ev: &PointerEvent, taken: Option<&Taken>) {
    let (bench, Some((grasp, grip, frame))) = (workbench(), taken) else { return };
    let [across, up] = grasp.moved(ev);
    let by = [across / grasp.size[0].max(1.0), up / grasp.size[1].max(1.0)];
    let doc = bench.doc_untracked();
    if let Some(class) = doc.workload.classes.get(of.index) {
        bench.edit(&grip.dragged((of.index, class), of.target, frame, by));
    }
}

fn push(of: Gripped, ev: &KeyboardEvent, grip: Option<Grip>) {
    let (bench, Some(push)) = (workbench(), push_of(ev)) else { return };
    let doc = bench.doc_untracked();
    let class = doc.workload.classes.get(of.index);
    let (Some(class), Some(frame), Some(grip)) = (class, of.frame.get_untracked(), grip) else {
        return;
    };
    ev.prevent_default();
    if let Some(edit) = grip.pushed((of.index, class), of.target, &frame, push) {
        bench.edit(&edit);
    }
}

/// Takes a point out of a profile; its neighbour gets the focus.
fn remove_point(of: Gripped, i: usize) {
    if of.target != Target::Arrivals {
        return;
    }
    let doc = workbench().doc_untracked();
    let points = handles::points(&doc, of.index);
    if points > 1 {
        change(of.index, ClassEdit::RemovePoint(i));
        let neighbour = format!("{}-{}", id(of), i.min(points - 2));
        // By then the handles are those of the points that are left.
        request_animation_frame(move || browser::focus(&neighbour));
    }
}

/// Adds a point to a profile where somebody clicked twice, beside its handles.
fn add_point(of: Gripped, ev: &MouseEvent) {
    let (bench, around) = (workbench(), ev.current_target());
    if of.target != Target::Arrivals || ev.target() != around {
        return;
    }
    let Some(around) = around.and_then(|around| around.dyn_into::<Element>().ok()) else { return };
    let share = |offset: i32, size: i32| f64::from(offset) / f64::from(size.max(1));
    let at = [
        share(ev.offset_x(), around.client_width()),
        1.0 - share(ev.offset_y(), around.client_height()),
    ];
    let doc = bench.doc_untracked();
    let class = doc.workload.classes.get(of.index);
    let points = class
        .zip(of.frame.get_untracked())
        .and_then(|(class, frame)| handles::with_point(&class.arrivals, &frame, at));
    if let Some(points) = points {
        bench.edit(&Edit::Class(of.index, ClassEdit::Typed(Typed::Points(points))));
        bench.seal();
    }
}
