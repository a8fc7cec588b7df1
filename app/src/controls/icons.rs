//! Small shapes: verdicts, origin tags, outcome swatches. Shape carries what colour does.

use leptos::prelude::*;

use crate::charts::Look;
use crate::view_model::words::{Tag, TagShape};

/// The shape of a verdict.
#[component]
pub fn Shape(state: &'static str) -> impl IntoView {
    let paths = match state {
        "holds" => view! { <circle cx="8" cy="8" r="7"></circle><path class="k" d="M4.6 8.2l2.3 2.4 4.5-5"></path> }
            .into_any(),
        "late" => view! { <path d="M8 1.2 15.2 14.4H.8z"></path><path class="k" d="M8 5.8v4.4M8 11.6v1.2"></path> }
            .into_any(),
        "over" => {
            view! { <path d="M5 1h6l4 4v6l-4 4H5l-4-4V5z"></path><path class="k" d="M8 4v5M8 11v1.2"></path> }
                .into_any()
        }
        "nofit" => {
            view! { <rect x="1.5" y="1.5" width="13" height="13"></rect><path class="k" d="M3.5 12.5l9-9"></path> }
                .into_any()
        }
        _ => view! { <circle class="dashed" cx="8" cy="8" r="6.5"></circle> }.into_any(),
    };
    view! { <svg viewBox="0 0 16 16" aria-hidden="true">{paths}</svg> }.into_any()
}

/// A piece of an outcome's colour and pattern.
#[component]
pub fn Swatch(look: Option<Look>, #[prop(optional)] idle: bool) -> impl IntoView {
    let (fill, pattern) = fill_of(look, idle);
    view! {
        <svg class="sw" viewBox="0 0 12 12" aria-hidden="true">
            <rect width="12" height="12" rx="2" class=fill></rect>
            {pattern.map(|fill| view! { <rect width="12" height="12" rx="2" fill=fill></rect> })}
        </svg>
    }
    .into_any()
}

/// The class of a fill and the paint of the pattern over it.
pub fn fill_of(look: Option<Look>, idle: bool) -> (String, Option<String>) {
    match look {
        Some(Look::Good) => ("f-good".into(), None),
        Some(Look::Hollow) => ("f-off".into(), None),
        Some(look) => (format!("f-{}", look.class()), Some(format!("url(#p-{})", look.class()))),
        None if idle => ("f-off".into(), None),
        None => ("f-again".into(), None),
    }
}

/// Where a number comes from.
#[component]
pub fn TagMark(tag: Tag) -> impl IntoView {
    let mark = match tag.shape {
        TagShape::Disc => view! { <circle cx="5" cy="5" r="4.2"></circle> }.into_any(),
        TagShape::Diamond => view! { <path d="M5 .6 9.4 5 5 9.4.6 5z"></path> }.into_any(),
        TagShape::Triangle => view! { <path d="M5 .8 9.6 9.2H.4z"></path> }.into_any(),
        TagShape::Square => {
            view! { <rect class="hollow" x="1.4" y="1.4" width="7.2" height="7.2"></rect> }
                .into_any()
        }
        TagShape::Ring => {
            view! { <circle class="hollow" cx="5" cy="5" r="3.6"></circle> }.into_any()
        }
    };
    view! {
        <span class="tag">
            <svg viewBox="0 0 10 10" aria-hidden="true">{mark}</svg>
            {tag.text}
        </span>
    }
    .into_any()
}

/// Several of them.
#[component]
pub fn Tags(tags: Vec<Tag>) -> impl IntoView {
    view! { <p class="orig">{tags.into_iter().map(|tag| view! { <TagMark tag/> }).collect_view()}</p> }
        .into_any()
}
