//! Light, dark or as the system has it.

use leptos::prelude::*;

use crate::browser;
use crate::charts::Scheme;

const DARK: &str = "(prefers-color-scheme: dark)";
const CONTRAST: &str = "(prefers-contrast: more)";
const KEY: &str = "goodput-theme";

/// What the reader chose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Theme {
    /// As the system has it.
    #[default]
    System,
    /// Dark ink on light.
    Light,
    /// Light ink on dark.
    Dark,
}

impl Theme {
    /// The next of the three, for a button that goes round.
    pub fn next(self) -> Self {
        match self {
            Self::System => Self::Light,
            Self::Light => Self::Dark,
            Self::Dark => Self::System,
        }
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::Light => "light",
            Self::Dark => "dark",
        }
    }

    fn named(name: &str) -> Self {
        match name {
            "light" => Self::Light,
            "dark" => Self::Dark,
            _ => Self::System,
        }
    }
}

/// The reader's choice, and the colours that follow from it and from the system.
pub fn signals() -> (RwSignal<Theme>, Memo<Scheme>) {
    let remembered = browser::remembered(KEY).unwrap_or_default();
    let theme = RwSignal::new(Theme::named(&remembered));
    let system_dark = RwSignal::new(browser::matches(DARK));
    let high_contrast = RwSignal::new(browser::matches(CONTRAST));
    browser::on_media_change(DARK, move |on| system_dark.set(on));
    browser::on_media_change(CONTRAST, move |on| high_contrast.set(on));
    let scheme = Memo::new(move |_| Scheme {
        dark: match theme.get() {
            Theme::System => system_dark.get(),
            Theme::Light => false,
            Theme::Dark => true,
        },
        high_contrast: high_contrast.get(),
    });
    // The root attribute and the browser's memory are the outside world.
    Effect::new(move |_| {
        let theme = theme.get();
        let attribute = (theme != Theme::System).then(|| theme.name());
        browser::set_root_attribute("data-theme", attribute);
        browser::remember(KEY, theme.name());
    });
    (theme, scheme)
}
