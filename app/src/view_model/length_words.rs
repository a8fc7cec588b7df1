//! Lengths as people say them: `512`, `100 to 4k`, `mean 512, p99 2.4k`.

use goodput_engine::problem::Problem;
use goodput_engine::scenario::DescribedLengths;
use goodput_engine::scenario::doc::{LengthsDoc, LognormalDoc};

use crate::parse::{self, Quantity};

/// What can be written.
pub const EXAMPLES: &str = "512, 100 to 4k, mean 512 p99 2k, or p50 200 p90 1.2k";

/// Lengths in the words that [`read`] takes; nothing where they have none.
pub fn say(lengths: &LengthsDoc) -> String {
    let text = |tokens: f64| parse::text(tokens, Quantity::Tokens);
    match lengths {
        LengthsDoc::Fixed { tokens } => text(f64::from(*tokens)),
        LengthsDoc::Lognormal(law) => {
            let mut law = *law;
            let mut words = Vec::new();
            if let (2, Some(low), Some(high)) = (numbers(&mut law), law.p5, law.p95) {
                words.push(format!("{} to {}", text(low), text(high)));
            } else {
                for (name, value) in fields(&mut law) {
                    words.extend(value.map(|tokens| format!("{name} {}", text(tokens))));
                }
            }
            for (name, end) in [("min", law.min), ("max", law.max)] {
                words.extend(end.map(|tokens| format!("{name} {}", text(f64::from(tokens)))));
            }
            words.join(", ")
        }
        _ => String::new(),
    }
}

fn numbers(law: &mut LognormalDoc) -> usize {
    fields(law).iter().filter(|(_, value)| value.is_some()).count()
}

fn fields(law: &mut LognormalDoc) -> [(&'static str, &mut Option<f64>); 8] {
    let LognormalDoc { mean, p99, sd, sigma, p5, p50, p90, p95, min: _, max: _ } = law;
    [
        ("mean", mean),
        ("p5", p5),
        ("p50", p50),
        ("p90", p90),
        ("p95", p95),
        ("p99", p99),
        ("sd", sd),
        ("sigma", sigma),
    ]
}

/// The lengths that words or a catalogue's description come to, with what of it is not honoured; or
/// why they describe none.
pub fn read_with_remarks(text: &str) -> Result<(LengthsDoc, String), String> {
    if !text.trim_start().starts_with('{') {
        return Ok((read(text)?, String::new()));
    }
    let said = |problems: &[Problem]| {
        let one = |problem: &Problem| format!("{}: {}", problem.path, problem.message);
        problems.iter().map(one).collect::<Vec<_>>().join("; ")
    };
    let described = DescribedLengths::read(text).map_err(|problem| said(&[problem]))?;
    let honoured = described.honoured().map_err(|problems| said(&problems))?;
    Ok((honoured.lengths, said(&honoured.warnings)))
}

/// The lengths that words describe, or why they describe none. Whether their numbers go together
/// is for the check of the document to say.
pub fn read(text: &str) -> Result<LengthsDoc, String> {
    let spaced = with_ranges(&text.replace(['=', ':'], " "));
    let words = spaced.split_whitespace().map(|word| word.trim_end_matches([',', ';']));
    let words = words.filter(|word| !word.is_empty() && !word.eq_ignore_ascii_case("tokens"));
    let words: Vec<&str> = words.collect();
    match words.as_slice() {
        [] => Err(format!("is empty: write {EXAMPLES}")),
        [all] => {
            let length = tokens(all)?;
            let whole = end(length).ok_or_else(|| format!("“{all}” is no length"))?;
            Ok(LengthsDoc::Fixed { tokens: whole })
        }
        [low, to, high, ends @ ..] if to.eq_ignore_ascii_case("to") => {
            let (p5, p95) = (Some(tokens(low)?), Some(tokens(high)?));
            named(LognormalDoc { p5, p95, ..LognormalDoc::default() }, ends)
        }
        all => named(LognormalDoc::default(), all),
    }
}

/// A dash between two numbers is a range; one right before a number that follows nothing or a space
/// is a minus, and stays.
fn with_ranges(text: &str) -> String {
    let letters: Vec<char> = text.chars().collect();
    let mut spaced = String::with_capacity(text.len() + 8);
    for (i, letter) in letters.iter().enumerate() {
        let after_space = i == 0 || letters[i - 1].is_whitespace();
        let before_digit =
            letters.get(i + 1).is_some_and(|next| next.is_ascii_digit() || *next == '.');
        match letter {
            '-' | '–' | '−' if !(after_space && before_digit) => spaced.push_str(" to "),
            _ => spaced.push(*letter),
        }
    }
    spaced
}

/// Adds numbers, each after its name.
fn named(mut law: LognormalDoc, words: &[&str]) -> Result<LengthsDoc, String> {
    for pair in words.chunks(2) {
        let lower = pair[0].to_lowercase();
        let name = match lower.as_str() {
            "median" => "p50",
            "σ" => "sigma",
            other => other,
        };
        let Some(word) = pair.get(1) else {
            return Err(format!("“{name}” has no number after it: write {EXAMPLES}"));
        };
        let value = if name == "sigma" { number(word, Quantity::Plain)? } else { tokens(word)? };
        let known = match name {
            "min" => law.min.replace(end(value).ok_or_else(|| format!("“{word}” is no length"))?),
            "max" => law.max.replace(end(value).ok_or_else(|| format!("“{word}” is no length"))?),
            _ => {
                let mut fields = fields(&mut law).into_iter();
                let Some((_, field)) = fields.find(|(field, _)| *field == name) else {
                    return Err(format!("“{}” is not known here: write {EXAMPLES}", pair[0]));
                };
                field.replace(value).map(|_| 0)
            }
        };
        if known.is_some() {
            return Err(format!("“{name}” stands there twice"));
        }
    }
    Ok(LengthsDoc::Lognormal(law))
}

fn tokens(word: &str) -> Result<f64, String> {
    number(word, Quantity::Tokens)
}

fn number(word: &str, quantity: Quantity) -> Result<f64, String> {
    parse::number(word, quantity).map_err(|why| format!("“{word}” {why}"))
}

/// A length in whole tokens; `None` where it is none.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "just found to be whole and in range"
)]
fn end(tokens: f64) -> Option<u32> {
    let fits = (1.0..=f64::from(u32::MAX)).contains(&tokens) && tokens.fract() == 0.0;
    fits.then_some(tokens as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn law(law: LognormalDoc) -> LengthsDoc {
        LengthsDoc::Lognormal(law)
    }

    #[test]
    fn a_catalogues_description_is_read_with_what_it_contradicts() {
        let uniform = r#"{"type": "uniform", "min": 500, "max": 8000, "mean": 4000}"#;
        let (lengths, said) = read_with_remarks(uniform).unwrap();
        let expected = LengthsDoc::Uniform { min: 500, max: 8_000, mean: None, sd: None };
        assert_eq!(lengths, expected);
        assert!(said.starts_with("mean: ") && said.contains("4250"), "{said}");
        let bimodal = read_with_remarks(r#"{"type": "bimodal", "mean": 300}"#).unwrap_err();
        assert!(bimodal.starts_with("type: "), "{bimodal}");
        assert_eq!(read_with_remarks("512").unwrap().1, "");
    }

    #[test]
    fn lengths_are_read_as_people_write_them() {
        let none = LognormalDoc::default();
        let range = LognormalDoc { p5: Some(100.0), p95: Some(4_000.0), ..none };
        let percentiles = LognormalDoc { p50: Some(200.0), p90: Some(1_200.0), ..none };
        for (text, expected) in [
            ("512", LengthsDoc::Fixed { tokens: 512 }),
            ("2k tokens", LengthsDoc::Fixed { tokens: 2_000 }),
            ("100 to 4k", law(range)),
            ("100-4k", law(range)),
            ("100 - 4k", law(range)),
            ("100 To 4K", law(range)),
            ("100 – 4,000, max 32k", law(LognormalDoc { max: Some(32_000), ..range })),
            ("mean 512, p99 2,391", LengthsDoc::lognormal(512.0, 2_391.0)),
            ("P50=200 P90=1.2k", law(percentiles)),
            ("median: 200, p90: 1.2k", law(percentiles)),
            ("p50 200 σ 0.8", law(LognormalDoc { p50: Some(200.0), sigma: Some(0.8), ..none })),
        ] {
            assert_eq!(read(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn what_is_said_reads_back_as_it_was() {
        let none = LognormalDoc::default();
        for lengths in [
            LengthsDoc::Fixed { tokens: 1_234 },
            LengthsDoc::lognormal(512.5, 2_391.0),
            law(LognormalDoc { p5: Some(10.0), p95: Some(9_000.0), min: Some(1), ..none }),
            law(LognormalDoc { mean: Some(90.0), sigma: Some(0.5), max: Some(900), ..none }),
        ] {
            assert_eq!(read(&say(&lengths)), Ok(lengths));
        }
        assert_eq!(say(&LengthsDoc::Empirical { samples: vec![1] }), "");
    }

    #[test]
    fn other_words_are_refused_with_the_word() {
        for (text, why) in [
            ("", "is empty"),
            ("about 500", "“about” is not known"),
            ("mean 512 p99", "“p99” has no number"),
            ("mean 512 mean 600", "twice"),
            ("100 to 4kk", "“4kk”"),
            ("1,5", "ambiguous"),
            ("0", "no length"),
            ("p50 9 max 1.5", "“1.5” is no length"),
            ("-1", "“-1” is negative"),
            ("−1", "“−1” is negative"),
            ("-5 to 10", "“-5” is negative"),
            ("mean -5, p99 10", "“-5” is negative"),
            ("5 to -10", "“-10” is negative"),
            ("NaN", "“NaN” is not a number"),
            ("Mean NaN p99 9", "“NaN” is not a number"),
            ("About 500", "“About” is not known"),
        ] {
            let said = read(text).expect_err(text);
            assert!(said.contains(why), "{text}: {said}");
        }
    }
}
