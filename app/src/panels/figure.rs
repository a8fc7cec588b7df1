//! A chart with its caption, its table, and its downloads.

use std::sync::Arc;

use leptos::html;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use wasm_bindgen::closure::Closure;
use web_sys::{HtmlCanvasElement, ResizeObserver, ResizeObserverEntry};

use crate::browser::{self, NextFrame};
use crate::charts::{CanvasSurface, Cell, Chart, Palette, Surface, Table};
use crate::state::workbench;
use crate::view_model::figures::Reading;

/// What a figure shows: a chart and its finding.
#[derive(Clone, PartialEq)]
pub struct Picture {
    /// The chart.
    pub chart: Arc<Chart>,
    /// The finding, one sentence.
    pub caption: String,
    /// Numbers below the chart.
    pub readings: Vec<Reading>,
}

/// A figure. `reads_time` gives it the cursor that all time charts share.
#[component]
pub fn Figure(
    id: &'static str,
    title: &'static str,
    picture: Memo<Option<Picture>>,
    #[prop(into)] stale: Signal<bool>,
    #[prop(optional)] reads_time: bool,
    /// Anchor of its title in the glossary.
    #[prop(optional)]
    term: Option<&'static str>,
    /// Hears where the pointer is on the canvas, x and y, and how wide that is, CSS pixels.
    #[prop(optional)]
    pointed: Option<Callback<(f64, f64, f64)>>,
    /// Lies over the canvas.
    #[prop(optional)]
    over: Option<AnyView>,
) -> impl IntoView {
    let heading = match term {
        Some(id) => view! { <super::Defined id word=title/> }.into_any(),
        None => title.into_any(),
    };
    let show_table = RwSignal::new(false);
    let caption =
        move || picture.with(|p| p.as_ref().map(|p| p.caption.clone())).unwrap_or_default();
    let caption_id = format!("caption-{id}");
    let labelled = caption_id.clone();
    view! {
        <figure data-testid=format!("figure-{id}")>
            <figcaption>
                <h3>{heading} <Previous stale/></h3>
                <Actions id title picture show_table/>
                <p id=caption_id>{caption}</p>
            </figcaption>
            <Canvas labelled picture stale reads_time pointed over/>
            {move || {
                let readings = picture.with(|p| p.as_ref().map(|p| p.readings.clone()));
                readings.filter(|r| !r.is_empty()).map(|readings| view! { <Readings id readings/> })
            }}
            {move || {
                show_table
                    .get()
                    .then(|| picture.get())
                    .flatten()
                    .map(|p| view! { <DataTable id title table=p.chart.table()/> })
            }}
        </figure>
    }
    .into_any()
}

/// Says that something is for the previous inputs, where there is room for it: nothing moves.
#[component]
pub fn Previous(#[prop(into)] stale: Signal<bool>) -> impl IntoView {
    view! { <span class="was" hidden=move || !stale.get()>" for the previous inputs"</span> }
        .into_any()
}

#[component]
fn Actions(
    id: &'static str,
    title: &'static str,
    picture: Memo<Option<Picture>>,
    show_table: RwSignal<bool>,
) -> impl IntoView {
    let hidden = format!(" of {}", title.to_lowercase());
    let csv = move |_| {
        if let Some(p) = picture.get_untracked() {
            browser::download(&format!("goodput-{id}.csv"), "text/csv", &p.chart.table().csv());
        }
    };
    let svg = move |_| {
        let drawn = picture.get_untracked().and_then(|p| p.chart.svg(720.0, &p.caption));
        if let Some(svg) = drawn {
            browser::download(&format!("goodput-{id}.svg"), "image/svg+xml", &svg);
        }
    };
    view! {
        <div class="acts">
            <button
                class="link"
                data-testid=format!("table-{id}")
                aria-expanded=move || if show_table.get() { "true" } else { "false" }
                on:click=move |_| show_table.update(|on| *on = !*on)
            >
                "Table"
                <span class="vh">{hidden.clone()}</span>
            </button>
            <button class="link" data-testid=format!("csv-{id}") on:click=csv>
                "CSV"
                <span class="vh">{hidden.clone()}</span>
            </button>
            <button class="link" data-testid=format!("svg-{id}") on:click=svg>
                "SVG"
                <span class="vh">{hidden}</span>
            </button>
        </div>
    }
    .into_any()
}

#[component]
fn Canvas(
    labelled: String,
    picture: Memo<Option<Picture>>,
    stale: Signal<bool>,
    reads_time: bool,
    pointed: Option<Callback<(f64, f64, f64)>>,
    over: Option<AnyView>,
) -> impl IntoView {
    let bench = workbench();
    let canvas = NodeRef::<html::Canvas>::new();
    let width = observed_width(canvas);
    // The canvas is the outside world. It is drawn on in the next frame, once however often the
    // picture changes before: setting a font makes the browser find out the canvas's style, which
    // between two changes of the page it would do for every chart.
    let next = StoredValue::new_local(NextFrame::default());
    Effect::new(move |_| {
        picture.track();
        bench.scheme.track();
        width.track();
        if reads_time {
            bench.cursor_s.track();
        }
        next.update_value(|next| {
            next.call(move || {
                let Some(canvas) = canvas.get_untracked() else { return };
                let palette = Palette::of(bench.scheme.get_untracked());
                let cursor_s = reads_time.then(|| bench.cursor_s.get_untracked()).flatten();
                let width = width.get_untracked();
                picture.with_untracked(|picture| {
                    if let Some(picture) = picture.as_ref().filter(|_| width > 0.0) {
                        draw(&canvas, width, &palette, &picture.chart, cursor_s);
                    }
                });
            });
        });
    });
    let point = move |(offset_x, offset_y): (i32, i32)| {
        if let Some(pointed) = pointed {
            pointed.run((f64::from(offset_x), f64::from(offset_y), width.get_untracked()));
        }
        if reads_time && width.get_untracked() > 0.0 {
            let t_s = picture.with_untracked(|p| {
                p.as_ref()
                    .and_then(|p| p.chart.moment_at(f64::from(offset_x), width.get_untracked()))
            });
            bench.cursor_s.set(t_s);
        }
    };
    view! {
        <div class="plot" class:stale=stale>
            <canvas
                node_ref=canvas
                role="img"
                aria-labelledby=labelled
                on:mousemove=move |ev| point((ev.offset_x(), ev.offset_y()))
                on:click=move |ev| point((ev.offset_x(), ev.offset_y()))
            ></canvas>
            {over}
        </div>
    }
    .into_any()
}

/// Draws a chart at the width that the page gives it.
fn draw(
    canvas: &HtmlCanvasElement,
    width: f64,
    palette: &Palette,
    chart: &Chart,
    cursor_s: Option<f64>,
) {
    let height = chart.height(width);
    // Through the style object: the content-security-policy forbids style attributes.
    let _done = web_sys::HtmlElement::style(canvas).set_property("height", &format!("{height}px"));
    let Some(backend) = CanvasSurface::new(canvas, (width, height), browser::pixel_ratio()) else {
        return;
    };
    // A chart that fails to draw leaves an empty canvas; caption and table stand without it.
    let _failed = chart.draw(&Surface::new(backend, palette), cursor_s);
}

/// The width that the element around a canvas has, CSS pixels, as it changes.
fn observed_width(canvas: NodeRef<html::Canvas>) -> RwSignal<f64> {
    let width = RwSignal::new(0.0);
    let observer: StoredValue<Option<Observer>, LocalStorage> = StoredValue::new_local(None);
    Effect::new(move |_| {
        let Some(parent) = canvas.get().and_then(|canvas| canvas.parent_element()) else { return };
        let callback = Closure::<dyn FnMut(js_sys::Array)>::new(move |entries: js_sys::Array| {
            let last = entries.get(entries.length().saturating_sub(1));
            if let Ok(entry) = last.dyn_into::<ResizeObserverEntry>() {
                let now = entry.content_rect().width().floor();
                if width.try_get_untracked().is_some_and(|before| (before - now).abs() >= 1.0) {
                    width.set(now);
                }
            }
        });
        if let Ok(observing) = ResizeObserver::new(callback.as_ref().unchecked_ref()) {
            observing.observe(&parent);
            observer.set_value(Some(Observer { observing, _callback: callback }));
        }
    });
    width
}

/// Stops observing when the figure goes.
struct Observer {
    observing: ResizeObserver,
    _callback: Closure<dyn FnMut(js_sys::Array)>,
}

impl Drop for Observer {
    fn drop(&mut self) {
        self.observing.disconnect();
    }
}

/// Numbers in a row, each after its name.
#[component]
pub fn Readings(id: &'static str, readings: Vec<Reading>) -> impl IntoView {
    let readings = readings.into_iter().map(|reading| {
        view! {
            <div>
                <dt>{reading.name}</dt>
                <dd data-value=reading.exact>{reading.shown}</dd>
            </div>
        }
    });
    view! {
        <dl class="readings" data-testid=format!("readings-{id}")>
            {readings.collect_view()}
        </dl>
    }
    .into_any()
}

#[component]
fn DataTable(id: &'static str, title: &'static str, table: Table) -> impl IntoView {
    let heads = table.columns.iter().map(|c| view! { <th scope="col">{c.head()}</th> });
    let rows = table.rows.iter().map(|row| {
        let cells = row.iter().map(|cell| {
            let class = if matches!(cell, Cell::Text(_)) { "text" } else { "number" };
            view! { <td class=class data-value=cell.exact()>{cell.shown()}</td> }
        });
        view! { <tr>{cells.collect_view()}</tr> }
    });
    view! {
        <div class="scroll" tabindex="0" role="region" aria-label=format!("Table of {}", title.to_lowercase())>
            <table class="data" data-testid=format!("data-{id}")>
                <caption class="vh">{title}</caption>
                <thead>
                    <tr>{heads.collect_view()}</tr>
                </thead>
                <tbody>{rows.collect_view()}</tbody>
            </table>
        </div>
    }
    .into_any()
}
