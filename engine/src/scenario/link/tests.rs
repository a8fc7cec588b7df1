//! Links: what opens, what does not and why, and that nothing opens in part.

use proptest::prelude::*;

use super::*;
use crate::scenario::arbitrary;
use crate::scenario::doc::LengthsDoc;

fn link() -> String {
    encode(&arbitrary::small()).unwrap().fragment
}

/// A link of version 1 with any payload.
fn around(payload: &[u8]) -> String {
    format!("#s=1.00000000.{}", BASE64URL_NOPAD.encode(payload))
}

fn packed(json: &str) -> Vec<u8> {
    compress_to_vec_zlib(json.as_bytes(), COMPRESSION_LEVEL)
}

#[test]
fn a_link_opens_from_an_address_a_fragment_or_a_payload() {
    let fragment = link();
    let wrapped = format!("{}\r\n {}", &fragment[..40], &fragment[40..]);
    for text in [
        format!("https://example.org/plan/?lang=en{fragment}"),
        format!("http://127.0.0.1:8080/{fragment}&view=debt"),
        fragment.clone(),
        fragment["#".len()..].to_owned(),
        fragment["#s=".len()..].to_owned(),
        format!("  {fragment}\n"),
        wrapped,
    ] {
        assert!(is_link(&text), "{text}");
        let opened = decode(&text).unwrap();
        assert_eq!(opened.doc, arbitrary::small());
        assert_eq!(opened.warnings, []);
    }
}

/// As it is pasted from a sentence, a bracket, quotation marks or an angle.
#[test]
fn punctuation_behind_a_link_is_not_part_of_it() {
    let link = link();
    let opened = decode(&link).expect("opens").doc;
    for tail in [".", ",", ")", ").", ">", "\"", "'", "]", ";", "!", "?", "”", "»", "*", "\n."] {
        for text in [format!("{link}{tail}"), format!("https://goodput.example/{link}{tail}")] {
            assert_eq!(decode(&text).map(|opened| opened.doc), Ok(opened.clone()), "{tail:?}");
            assert!(is_link(&text), "{tail:?}");
        }
    }
}

#[test]
fn what_is_no_link_is_not_taken_for_one() {
    for text in ["", "-", "{\"version\": 1}", "scenario.json", "1.json", "1.2.json", "run#s/1.json"]
    {
        assert!(!is_link(text), "{text}");
    }
    // Meant as a link, though its end is missing.
    for text in ["#s=1", "http://127.0.0.1:8080/#s=2.12345678.x"] {
        assert!(is_link(text), "{text}");
    }
}

#[test]
fn every_way_to_be_wrong_has_its_own_word() {
    let good = link();
    let altered = good.replace("#s=1.", "#s=1.x");
    for (text, error) in [
        (String::new(), LinkError::NotOurs),
        ("hello".to_owned(), LinkError::NotOurs),
        ("https://example.org/#top".to_owned(), LinkError::NotOurs),
        ("https://example.org/#s=top".to_owned(), LinkError::NotOurs),
        ("42".to_owned(), LinkError::NotOurs),
        ("#s=0.00000000.x".to_owned(), LinkError::NotOurs),
        ("#s=2.00000000.whatever".to_owned(), LinkError::Newer { version: 2 }),
        ("#s=1".to_owned(), LinkError::Truncated),
        ("#s=1.00000000".to_owned(), LinkError::Truncated),
        ("#s=1.00000000.".to_owned(), LinkError::Truncated),
        (good[..good.len() - 1].to_owned(), LinkError::Truncated),
        (good[..good.len() / 2].to_owned(), LinkError::Truncated),
        (altered, LinkError::Broken),
        ("#s=1.00000000.ab!d".to_owned(), LinkError::Broken),
        (around(b"no zlib at all"), LinkError::Broken),
        (around(&[packed("{}"), b"more".to_vec()].concat()), LinkError::Broken),
        (around(&compress_to_vec_zlib(&[0xff, 0xfe], 9)), LinkError::Broken),
        (format!("#s=1.00000000.{}", "A".repeat(MAX_LINK_CHARS)), LinkError::TooLarge),
        ("x".repeat(1 << 20), LinkError::TooLarge),
        // 2 MB of zeros in 2 kB: a bomb.
        (around(&compress_to_vec_zlib(&vec![0; 2 << 20], 9)), LinkError::TooLarge),
    ] {
        assert_eq!(decode(&text).unwrap_err(), error, "{text:.60}");
        let problem = error.problems().remove(0);
        assert!(!problem.message.is_empty() && !problem.hint.is_empty());
    }
}

#[test]
fn a_link_that_holds_something_else_says_what() {
    let text = around(&packed(r#"{"version":1,"fleet":{},"workload":{}}"#));
    let Err(LinkError::Document(problems)) = decode(&text) else { panic!("{text}") };
    assert!(problems[0].message.starts_with("missing field"), "{}", problems[0]);
    let newer = around(&packed(r#"{"version":7}"#));
    assert!(matches!(decode(&newer), Err(LinkError::Document(_))));
}

#[test]
fn a_changed_letter_is_noticed() {
    let good = link();
    let start = good.rfind('.').unwrap() + 1;
    for at in start..good.len() {
        let other = if &good[at..=at] == "A" { "B" } else { "A" };
        let text = format!("{}{other}{}", &good[..at], &good[at + 1..]);
        assert!(decode(&text).is_err(), "at {at}");
    }
}

#[test]
fn another_catalogue_is_said_and_the_document_opens_all_the_same() {
    let good = link();
    let fingerprint = &good["#s=1.".len()..][..FINGERPRINT_CHARS];
    let other = if fingerprint == "0000000f" { "0000000e" } else { "0000000f" };
    let opened = decode(&good.replace(fingerprint, other)).unwrap();
    assert_eq!(opened.doc, arbitrary::small());
    assert!(opened.warnings[0].message.contains("catalogue"));
}

#[test]
fn what_does_not_fit_is_told_to_go_by_file() {
    let with_samples = |count: u32| {
        let mut doc = arbitrary::small();
        // Multiplied by an odd number modulo 2^20, so that nothing repeats.
        let samples = (1..=count).map(|i| i.wrapping_mul(0x9e37_79b1) >> 12).collect();
        doc.workload.classes[0].input_tokens = LengthsDoc::Empirical { samples };
        encode(&doc)
    };
    assert_eq!(with_samples(10).unwrap().warnings, []);
    let long = with_samples(800).unwrap();
    assert!(long.fragment.len() > LONG_LINK_CHARS);
    assert!(long.warnings[0].message.contains(&long.fragment.len().to_string()));
    for count in [5_000, 500_000] {
        let problem = with_samples(count).unwrap_err();
        assert!(problem.hint.contains("file"), "{problem}");
    }
}

#[test]
fn a_number_that_text_cannot_hold_is_not_sent() {
    for number in [f64::NAN, f64::INFINITY] {
        let mut doc = arbitrary::small();
        doc.workload.classes[0].slo.ttft_ms = Some(number);
        assert!(encode(&doc).unwrap_err().hint.contains("finite"));
    }
}

proptest! {
    #[test]
    fn a_document_comes_back_from_its_link(doc in arbitrary::document()) {
        // A few are too long, which is no matter here.
        if let Ok(link) = encode(&doc) {
            let opened = decode(&link.fragment).unwrap();
            prop_assert_eq!(&opened.doc, &doc);
            prop_assert_eq!(opened.warnings, []);
            prop_assert_eq!(encode(&opened.doc), Ok(link));
        }
    }

    #[test]
    fn a_link_cut_anywhere_does_not_open(doc in arbitrary::document(), at in any::<prop::sample::Index>()) {
        if let Ok(link) = encode(&doc) {
            let cut = at.index(link.fragment.len());
            prop_assert!(decode(&link.fragment[..cut]).is_err());
        }
    }

    #[test]
    fn no_text_makes_it_panic(text in arbitrary::text()) {
        let _ = decode(&text);
    }

    #[test]
    fn no_payload_makes_it_panic(payload in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = decode(&around(&payload));
        // A valid header, so that more of the stream is read.
        let _ = decode(&around(&[&[0x78, 0xda], payload.as_slice()].concat()));
    }
}

/// A link of version 1 that uses every part of it, written when the version was frozen. It opens
/// for ever, and so does every other link of its version: never change it.
#[test]
fn the_frozen_link_of_version_1_opens_as_it_was_written() {
    let frozen = include_str!("frozen-1.txt");
    let opened = decode(frozen).unwrap();
    assert_eq!(Ok(&opened.doc), doc::parse(include_str!("frozen-1.json")).as_ref());
    // What it means stands in numbers of its own, so that no catalogue can change it.
    assert_eq!(opened.warnings, []);
    assert_eq!(decode(&encode(&opened.doc).unwrap().fragment).unwrap().doc, opened.doc);
}
