//! From bytes to text: gzip, byte-order marks, UTF-16, and a polite no to everything binary.

use std::borrow::Cow;

use super::{Refusal, gzip};

/// The bytes of the text, unpacked if they are gzip.
pub(super) fn unpack(bytes: &[u8]) -> Result<Cow<'_, [u8]>, Refusal> {
    if bytes.starts_with(&gzip::MAGIC) {
        let unpacked = gzip::unpack(bytes)?;
        return if unpacked.is_empty() {
            Err(Refusal::empty("the gzip file is empty"))
        } else {
            Ok(Cow::Owned(unpacked))
        };
    }
    Ok(Cow::Borrowed(bytes))
}

/// The text without its byte-order mark. UTF-16 is read only with one: without it the byte order
/// would be a guess.
pub(super) fn text(bytes: &[u8]) -> Result<Cow<'_, str>, Refusal> {
    if let Some(refusal) = known_binary(bytes) {
        return Err(refusal);
    }
    let text = match bytes {
        [0xef, 0xbb, 0xbf, rest @ ..] => Cow::Borrowed(utf8(rest)?),
        [0xff, 0xfe, rest @ ..] => Cow::Owned(utf16(rest, u16::from_le_bytes)?),
        [0xfe, 0xff, rest @ ..] => Cow::Owned(utf16(rest, u16::from_be_bytes)?),
        _ => Cow::Borrowed(utf8(bytes)?),
    };
    // Some spreadsheets still end lines with a carriage return alone.
    if text.contains('\r') && !text.contains('\n') {
        return Ok(Cow::Owned(text.replace('\r', "\n")));
    }
    Ok(text)
}

fn utf8(bytes: &[u8]) -> Result<&str, Refusal> {
    if let Some(at) = bytes.iter().position(|&byte| byte == 0) {
        return Err(binary(&format!("byte {at} is zero")));
    }
    std::str::from_utf8(bytes).map_err(|error| {
        let at = error.valid_up_to();
        // No error length: a character begun and not finished.
        match error.error_len() {
            None => Refusal::truncated("the file stops in the middle of a character"),
            Some(_) => binary(&format!("byte {at} (0x{:02x}) is not UTF-8", bytes[at])),
        }
    })
}

fn utf16(bytes: &[u8], word: fn([u8; 2]) -> u16) -> Result<String, Refusal> {
    if bytes.len() % 2 == 1 {
        return Err(Refusal::truncated("the UTF-16 text stops in the middle of a character"));
    }
    let words = bytes.chunks_exact(2).map(|pair| word([pair[0], pair[1]]));
    let text: String = char::decode_utf16(words).collect::<Result<_, _>>().map_err(|error| {
        let unit = error.unpaired_surrogate();
        Refusal::binary(
            format!("the UTF-16 text holds half a character (0x{unit:04x})"),
            "save the file as UTF-8",
        )
    })?;
    if text.contains('\0') { Err(binary("it holds a zero character")) } else { Ok(text) }
}

/// Kinds of file that say by their first bytes what they are.
fn known_binary(bytes: &[u8]) -> Option<Refusal> {
    const KINDS: [(&[u8], &str, &str); 6] = [
        (b"PK\x03\x04", "a zip archive or a spreadsheet", "unpack it, or export the sheet as CSV"),
        (b"%PDF", "a PDF", "upload the result file the tool wrote"),
        (b"\x89PNG", "a picture", "upload the result file the tool wrote"),
        (b"PAR1", "a Parquet file", "export it as CSV"),
        (b"SQLite format 3", "an SQLite database", "export the table as CSV"),
        (b"\x28\xb5\x2f\xfd", "zstd-compressed", "unpack it first, or use gzip"),
    ];
    KINDS
        .iter()
        .find(|(magic, ..)| bytes.starts_with(magic))
        .map(|(_, kind, hint)| Refusal::binary(format!("this is not text but {kind}"), *hint))
}

fn binary(why: &str) -> Refusal {
    Refusal::binary(
        format!("this is not text: {why}"),
        "upload JSON or CSV, plain or as .gz; save text as UTF-8",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::RefusalKind;

    fn utf16_bytes(text: &str, big_endian: bool) -> Vec<u8> {
        let mut bytes = if big_endian { vec![0xfe, 0xff] } else { vec![0xff, 0xfe] };
        for word in text.encode_utf16() {
            bytes.extend(if big_endian { word.to_be_bytes() } else { word.to_le_bytes() });
        }
        bytes
    }

    #[test]
    fn byte_order_marks_are_understood() {
        let wanted = "gpu,µs 😀\n";
        for bytes in [
            wanted.as_bytes().to_vec(),
            [b"\xef\xbb\xbf", wanted.as_bytes()].concat(),
            utf16_bytes(wanted, false),
            utf16_bytes(wanted, true),
        ] {
            assert_eq!(text(&bytes).unwrap(), wanted);
        }
    }

    #[test]
    fn lines_may_end_in_a_carriage_return_alone() {
        for (bytes, expected) in [("a\rb\r", "a\nb\n"), ("a\r\nb\r\n", "a\r\nb\r\n")] {
            assert_eq!(text(bytes.as_bytes()).unwrap(), expected);
        }
    }

    #[test]
    fn what_is_not_text_is_named() {
        for (bytes, word) in [
            (&b"PK\x03\x04\x00\x00"[..], "zip"),
            (b"%PDF-1.7\n\xe2\xe3\xcf\xd3", "PDF"),
            (b"gpu,\x00,1", "byte 4 is zero"),
            (b"caf\xe9,1", "byte 3 (0xe9)"),
        ] {
            let refusal = text(bytes).unwrap_err();
            assert_eq!(refusal.kind, RefusalKind::Binary);
            assert!(refusal.message.contains(word), "{}", refusal.message);
        }
    }

    #[test]
    fn half_a_character_at_the_end_is_a_truncation() {
        for bytes in [&b"a,b\xe2\x82"[..], b"\xff\xfea\x00b"] {
            assert_eq!(text(bytes).unwrap_err().kind, RefusalKind::Truncated);
        }
    }
}
