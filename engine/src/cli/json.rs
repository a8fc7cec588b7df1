//! JSON as it leaves the program: a zero has no sign.
//!
//! Sums of nothing are a negative zero in Rust, and so are products of nothing with something below
//! it: a reader would take `-0.0` for a loss.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::ser::{CompactFormatter, Formatter, PrettyFormatter};

/// `value` on several lines, for people.
pub fn pretty(value: &impl Serialize) -> serde_json::Result<String> {
    written(value, PrettyFormatter::new())
}

/// `value` on one line.
pub fn compact(value: &impl Serialize) -> serde_json::Result<String> {
    written(value, CompactFormatter)
}

fn written(value: &impl Serialize, formatter: impl Formatter) -> serde_json::Result<String> {
    let mut text = Vec::new();
    let mut serializer = serde_json::Serializer::with_formatter(&mut text, Unsigned(formatter));
    value.serialize(&mut serializer)?;
    String::from_utf8(text).map_err(|error| serde_json::Error::io(io::Error::other(error)))
}

/// Another formatter but for the sign of zeros.
struct Unsigned<F>(F);

impl<F: Formatter> Formatter for Unsigned<F> {
    fn write_f64<W: ?Sized + Write>(&mut self, writer: &mut W, value: f64) -> io::Result<()> {
        self.0.write_f64(writer, value + 0.0)
    }

    fn begin_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.begin_array(writer)
    }

    fn end_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.end_array(writer)
    }

    fn begin_array_value<W: ?Sized + Write>(
        &mut self,
        writer: &mut W,
        first: bool,
    ) -> io::Result<()> {
        self.0.begin_array_value(writer, first)
    }

    fn end_array_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.end_array_value(writer)
    }

    fn begin_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.begin_object(writer)
    }

    fn end_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.end_object(writer)
    }

    fn begin_object_key<W: ?Sized + Write>(
        &mut self,
        writer: &mut W,
        first: bool,
    ) -> io::Result<()> {
        self.0.begin_object_key(writer, first)
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.begin_object_value(writer)
    }

    fn end_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.end_object_value(writer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_zero_has_no_sign_and_nothing_else_changes() {
        let value = serde_json::json!({ "none": -0.0, "some": [-1.5, 0.0, {}], "text": "-0.0" });
        assert_eq!(
            compact(&value).expect("JSON"),
            r#"{"none":0.0,"some":[-1.5,0.0,{}],"text":"-0.0"}"#
        );
        let signed = serde_json::to_string_pretty(&value).expect("JSON");
        assert_eq!(pretty(&value).expect("JSON"), signed.replace(": -0.0", ": 0.0"));
    }
}
