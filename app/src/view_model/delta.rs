//! Differences from the pinned baseline, coloured by better or worse, not by sign.

use crate::format;

/// Whether a change is welcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    /// Improves.
    Better,
    /// Gets worse.
    Worse,
    /// Neither.
    Same,
}

/// A change in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delta {
    /// The change with its sign and unit, or a factor; `same` where there is none.
    pub text: String,
    /// Its colour.
    pub tone: Tone,
    /// What it is compared with: "was 96.1 %".
    pub was: String,
}

/// Which direction is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Better {
    Higher,
    Lower,
}

impl Better {
    /// The tone of a change from `before` to `now`.
    pub fn tone(self, before: f64, now: f64) -> Tone {
        match (now.partial_cmp(&before), self) {
            (Some(std::cmp::Ordering::Greater), Self::Higher)
            | (Some(std::cmp::Ordering::Less), Self::Lower) => Tone::Better,
            (Some(std::cmp::Ordering::Equal) | None, _) => Tone::Same,
            _ => Tone::Worse,
        }
    }
}

impl Delta {
    /// Shares: in points, not per cent of per cent.
    pub fn points(before: f64, now: f64) -> Self {
        let text = format::signed((now - before) * 100.0, 1);
        Self::new(&text, " points", Better::Higher.tone(before, now), &format::percent(before))
    }

    /// Amounts: as a factor beyond a factor of two, else as a difference.
    pub fn amount(before: f64, now: f64, better: Better, show: impl Fn(f64) -> String) -> Self {
        let tone = better.tone(before, now);
        let ratio = now / before;
        let text = if ratio.is_finite() && ratio > 0.0 && !(0.5..=2.0).contains(&ratio) {
            format::factor(ratio)
        } else if now > before {
            format!("+{}", show(now - before))
        } else {
            format!("−{}", show(before - now))
        };
        let unchanged = show(now) == show(before);
        Self::new(if unchanged { "0" } else { &text }, "", tone, &show(before))
    }

    /// A remark beside a number that is compared with nothing.
    pub fn plain(text: String, tone: Tone) -> Self {
        Self { text, tone, was: String::new() }
    }

    fn new(text: &str, unit: &str, tone: Tone, before: &str) -> Self {
        if text == "0" {
            return Self { text: "same".into(), tone: Tone::Same, was: String::new() };
        }
        Self { text: format!("{text}{unit}"), tone, was: format!("was {before}") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_say_how_much_and_whether_it_is_welcome() {
        let delta = Delta::points(0.961, 0.449);
        assert_eq!((delta.text.as_str(), delta.tone), ("−51.2 points", Tone::Worse));
        assert_eq!(delta.was, "was 96.1\u{202f}%");
        let delta = Delta::amount(6.5, 112.0, Better::Lower, format::seconds);
        assert_eq!((delta.text.as_str(), delta.tone), ("×\u{202f}17", Tone::Worse));
        let delta = Delta::amount(0.3, 0.2, Better::Lower, format::usd);
        assert_eq!((delta.text.as_str(), delta.tone), ("−$0.1", Tone::Better));
        let delta = Delta::amount(2.0, 2.0001, Better::Lower, format::usd);
        assert_eq!((delta.text.as_str(), delta.tone), ("same", Tone::Same));
        let delta = Delta::amount(0.0, 5.0, Better::Lower, format::seconds);
        assert_eq!((delta.text.as_str(), delta.tone), ("+5\u{202f}s", Tone::Worse));
    }
}
