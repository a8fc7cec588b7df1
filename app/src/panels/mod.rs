//! The panels of the page, in the order of its reading.

mod answer;
mod causes;
mod figure;
mod figures;
mod folded;
mod glossary;
mod header;
mod latencies;
mod misses;
mod moment;
mod notice;
mod outcomes;
mod patterns;
mod percentiles;
mod pools;
mod presets;
mod rail;
mod remedies;
mod share;
mod status;
mod uploads;

pub use answer::Answer;
pub use causes::Causes;
pub use figures::Figures;
pub use glossary::{Defined, Glossary, GlossaryButton, GlossaryDialog};
pub use header::Header;
pub use notice::{NoticeBar, Problems};
pub use outcomes::Outcomes;
pub use patterns::Patterns;
pub use pools::Pools;
pub use presets::PresetsDialog;
pub use rail::Rail;
pub use remedies::RemedyPanel;
pub use share::ShareDialog;
pub use status::StatusLine;
pub use uploads::Uploads;
