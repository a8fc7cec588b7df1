//! The colours of charts, read from the same token file as the style sheets.

use goodput_engine::slo::Outcome;
use plotters::style::RGBColor;

const TOKENS: &str = include_str!("../../styles/tokens.css");

/// Which of the four sets of colours to take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Scheme {
    /// Light ink on dark.
    pub dark: bool,
    /// The reader asked for more contrast.
    pub high_contrast: bool,
}

/// The colours that charts use, for one scheme.
#[derive(Debug, Clone, PartialEq)]
pub struct Palette {
    /// Behind everything.
    pub panel: RGBColor,
    /// Empty parts of bars.
    pub sunken: RGBColor,
    /// Horizontal gridlines.
    pub grid: RGBColor,
    /// Zero line, ticks, leaders.
    pub axis: RGBColor,
    /// Outlines of empty bars.
    pub outline: RGBColor,
    /// Text.
    pub ink: RGBColor,
    /// Captions inside a chart.
    pub ink_2: RGBColor,
    /// Tick labels.
    pub ink_3: RGBColor,
    /// Text of what improves.
    pub ok: RGBColor,
    /// Text of what gets worse.
    pub warn: RGBColor,
    /// Text of what breaks the contract.
    pub bad: RGBColor,
    /// Demand.
    pub required: RGBColor,
    /// Stability limit.
    pub sustainable: RGBColor,
    /// Supply at which the contract holds.
    pub deliverable: RGBColor,
    /// The pinned baseline.
    pub before: RGBColor,
    /// Demand beyond supply, debt.
    pub excess: RGBColor,
    /// Limits and targets.
    pub limit: RGBColor,
    /// Lines of outcome patterns.
    pub pattern: RGBColor,
    outcomes: [RGBColor; OUTCOME_TOKENS.len()],
}

/// Families of outcomes that share a colour and a pattern, in token order.
const OUTCOME_TOKENS: [&str; 9] = [
    "o-good",
    "o-late",
    "o-slow",
    "o-stalled",
    "o-late-slow",
    "o-error",
    "o-cancelled",
    "o-rejected",
    "o-low-quality",
];

/// What an outcome looks like: finer outcomes borrow their parent's look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Look {
    Good,
    Late,
    Slow,
    Stalled,
    LateSlow,
    Error,
    Cancelled,
    Rejected,
    LowQuality,
    /// Undecided: an outline, no fill.
    Hollow,
}

impl Look {
    /// The look of an outcome.
    pub fn of(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Good => Self::Good,
            Outcome::LateFirstToken => Self::Late,
            Outcome::SlowTokens => Self::Slow,
            Outcome::Stalled => Self::Stalled,
            Outcome::LateAndSlow | Outcome::LateCompletion => Self::LateSlow,
            Outcome::Error => Self::Error,
            Outcome::TimedOut | Outcome::CancelledBeforeFirst | Outcome::CancelledMidStream => {
                Self::Cancelled
            }
            Outcome::Rejected | Outcome::TooLong => Self::Rejected,
            Outcome::LowQuality => Self::LowQuality,
            Outcome::Unfinished => Self::Hollow,
        }
    }

    /// The class that style sheets know it by; also the name of its pattern.
    pub fn class(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Late => "late",
            Self::Slow => "slow",
            Self::Stalled => "stalled",
            Self::LateSlow => "late-slow",
            Self::Error => "error",
            Self::Cancelled => "cancelled",
            Self::Rejected => "rejected",
            Self::LowQuality => "low-quality",
            Self::Hollow => "hollow",
        }
    }

    /// Fill, or none for an outline.
    pub fn fill(self, palette: &Palette) -> Option<RGBColor> {
        palette.outcomes.get(self as usize).copied()
    }
}

impl Palette {
    /// The colours of a scheme.
    pub fn of(scheme: Scheme) -> Self {
        let color =
            |name: &str| token(name, scheme).and_then(parse_hex).unwrap_or(RGBColor(128, 128, 128));
        Self {
            panel: color("panel"),
            sunken: color("sunken"),
            grid: color("grid"),
            axis: color("axis"),
            outline: color("line-control"),
            ink: color("ink"),
            ink_2: color("ink-2"),
            ink_3: color("ink-3"),
            ok: color("ok"),
            warn: color("warn"),
            bad: color("bad"),
            required: color("s-required"),
            sustainable: color("s-sustainable"),
            deliverable: color("s-deliverable"),
            before: color("s-before"),
            excess: color("s-excess"),
            limit: color("limit"),
            pattern: color("o-pattern"),
            outcomes: OUTCOME_TOKENS.map(color),
        }
    }
}

/// The fonts of the page, as CSS writes them.
pub fn font_family() -> &'static str {
    value_in(TOKENS, "font-ui").unwrap_or("sans-serif")
}

/// The text of a colour token for a scheme, e.g. `#15181e`.
fn token(name: &str, scheme: Scheme) -> Option<&'static str> {
    let (normal, contrast) = TOKENS.split_once("@media (prefers-contrast: more)")?;
    let value = if scheme.high_contrast { value_in(contrast, name) } else { None };
    let value = value.or_else(|| value_in(normal, name))?;
    let Some(pair) = value.strip_prefix("light-dark(").and_then(|v| v.strip_suffix(')')) else {
        return Some(value);
    };
    let (light, dark) = pair.split_once(", ")?;
    Some(if scheme.dark { dark } else { light })
}

/// The value of a custom property in a style sheet.
fn value_in<'a>(css: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = css.split_once(&format!(" --{name}: "))?;
    rest.split_once(';').map(|(value, _)| value)
}

fn parse_hex(text: &str) -> Option<RGBColor> {
    let digits = text.strip_prefix('#').filter(|d| d.len() == 6)?;
    let channel = |i: usize| u8::from_str_radix(digits.get(i..i + 2)?, 16).ok();
    Some(RGBColor(channel(0)?, channel(2)?, channel(4)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCHEMES: [Scheme; 4] = [
        Scheme { dark: false, high_contrast: false },
        Scheme { dark: true, high_contrast: false },
        Scheme { dark: false, high_contrast: true },
        Scheme { dark: true, high_contrast: true },
    ];

    fn color(name: &str, scheme: Scheme) -> RGBColor {
        token(name, scheme).and_then(parse_hex).unwrap_or_else(|| panic!("{name} in {scheme:?}"))
    }

    /// Relative luminance, WCAG 2.2.
    fn luminance(c: RGBColor) -> f64 {
        let linear = |channel: u8| {
            let x = f64::from(channel) / 255.0;
            if x <= 0.040_45 {
                x / 12.92
            } else {
                goodput_engine::math::pow((x + 0.055) / 1.055, 2.4)
            }
        };
        0.2126 * linear(c.0) + 0.7152 * linear(c.1) + 0.0722 * linear(c.2)
    }

    fn contrast(a: RGBColor, b: RGBColor) -> f64 {
        let (a, b) = (luminance(a), luminance(b));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    #[test]
    fn text_reads_on_every_surface_it_stands_on() {
        let pairs = [
            ("ink", &["panel", "page", "sunken", "accent-wash", "bad-wash", "warn-wash"][..]),
            ("ink-2", &["panel", "page", "bad-wash", "warn-wash", "ok-wash", "none-wash"]),
            ("ink-3", &["panel", "page", "accent-wash"]),
            ("accent", &["panel", "page", "accent-wash"]),
            ("ok", &["panel", "ok-wash"]),
            ("warn", &["panel", "warn-wash"]),
            ("bad", &["panel", "bad-wash"]),
            ("none", &["panel", "none-wash"]),
            ("on-accent", &["accent"]),
            ("on-late", &["o-late"]),
        ];
        for scheme in SCHEMES {
            for (text, surfaces) in pairs {
                for surface in surfaces {
                    let ratio = contrast(color(text, scheme), color(surface, scheme));
                    assert!(ratio >= 4.5, "{text} on {surface}, {scheme:?}: {ratio:.2}");
                }
            }
        }
    }

    #[test]
    fn lines_fills_and_borders_stand_out_from_the_panel() {
        let graphics = ["line-control", "axis", "focus", "limit"]
            .into_iter()
            .chain(["s-required", "s-sustainable", "s-deliverable", "s-before", "s-excess"])
            .chain(OUTCOME_TOKENS);
        for name in graphics {
            for scheme in SCHEMES {
                let ratio = contrast(color(name, scheme), color("panel", scheme));
                assert!(ratio >= 3.0, "{name}, {scheme:?}: {ratio:.2}");
            }
        }
    }

    #[test]
    fn every_outcome_has_a_look() {
        let palette = Palette::of(Scheme::default());
        for outcome in Outcome::ALL {
            let look = Look::of(outcome);
            assert_eq!(look.fill(&palette).is_none(), look == Look::Hollow, "{outcome:?}");
        }
        assert_eq!(Look::Good.fill(&palette), Some(RGBColor(0x2a, 0x9a, 0x99)));
        assert_eq!(Look::LowQuality.fill(&palette), Some(RGBColor(0x06, 0x62, 0xaa)));
    }
}
