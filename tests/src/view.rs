//! How the page is looked at: window size, colour scheme, and pictures of it.
use crate::{Page, Result};
use data_encoding::BASE64;
use serde_json::json;
use std::path::Path;

/// A window and the colours its user asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct View {
    /// Used in file names.
    pub name: &'static str,
    /// Width in CSS pixels.
    pub width: u32,
    /// Height in CSS pixels.
    pub height: u32,
    /// Whether the user prefers a dark scheme.
    pub dark: bool,
    /// Whether it is a phone: touch, and a density of 2.
    pub phone: bool,
}

/// 1440 × 900, light.
pub const DESKTOP_LIGHT: View =
    View { name: "desktop-light", width: 1440, height: 900, dark: false, phone: false };
/// 1440 × 900, dark.
pub const DESKTOP_DARK: View = View { name: "desktop-dark", dark: true, ..DESKTOP_LIGHT };
/// 1024 × 768, light: the narrowest window with the rail beside the answer.
pub const LAPTOP: View = View { name: "laptop", width: 1024, height: 768, ..DESKTOP_LIGHT };
/// 720 × 450, light: a desktop at 200 % zoom.
pub const DESKTOP_ENLARGED: View =
    View { name: "desktop-enlarged", width: 720, height: 450, ..DESKTOP_LIGHT };
/// 390 × 844, light.
pub const PHONE_LIGHT: View =
    View { name: "phone-light", width: 390, height: 844, dark: false, phone: true };
/// 390 × 844, dark.
pub const PHONE_DARK: View = View { name: "phone-dark", dark: true, ..PHONE_LIGHT };

/// 320 × 640, light: the narrowest phone, and a desktop at 400 % zoom.
pub const PHONE_NARROW: View =
    View { name: "phone-narrow", width: 320, height: 640, ..PHONE_LIGHT };
/// Every view that the page is made for.
pub const ALL: [View; 7] =
    [DESKTOP_LIGHT, DESKTOP_DARK, LAPTOP, DESKTOP_ENLARGED, PHONE_LIGHT, PHONE_DARK, PHONE_NARROW];

impl Page {
    /// Shows the page in this window from now on.
    pub async fn view(&self, view: View) -> Result {
        let metrics = json!({
            "width": view.width,
            "height": view.height,
            "deviceScaleFactor": if view.phone { 2 } else { 1 },
            "mobile": view.phone,
        });
        self.devtools("Emulation.setDeviceMetricsOverride", metrics).await?;
        self.devtools("Emulation.setTouchEmulationEnabled", json!({ "enabled": view.phone }))
            .await?;
        let scheme = if view.dark { "dark" } else { "light" };
        let media = json!({ "features": [
            { "name": "prefers-color-scheme", "value": scheme },
            { "name": "prefers-reduced-motion", "value": "reduce" },
        ]});
        self.devtools("Emulation.setEmulatedMedia", media).await?;
        Ok(())
    }

    /// Writes a PNG of the whole page, also of what lies below the window.
    pub async fn screenshot(&self, file: &Path) -> Result {
        let layout = self.devtools("Page.getLayoutMetrics", json!({})).await?;
        let mut clip = layout["cssContentSize"].clone();
        clip["scale"] = json!(1);
        let options = json!({ "format": "png", "captureBeyondViewport": true, "clip": clip });
        let answer = self.devtools("Page.captureScreenshot", options).await?;
        let data = answer["data"].as_str().ok_or("the browser sent no picture")?;
        if let Some(folder) = file.parent() {
            std::fs::create_dir_all(folder)?;
        }
        std::fs::write(file, BASE64.decode(data.as_bytes())?)?;
        Ok(())
    }
}
