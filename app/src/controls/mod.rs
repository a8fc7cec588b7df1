//! Form controls: native elements with a label, a unit, and the problem of their place in the
//! document.

mod drag;
mod icons;
mod number_field;
mod select;
mod text_field;

pub use drag::{Grasp, push_of};
pub use icons::{Shape, Swatch, TagMark, Tags, fill_of};
pub use number_field::{NumberField, id_of};
pub use select::{Choice, Select, SwitchBox};
pub use text_field::TextField;
