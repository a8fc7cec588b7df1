//! Accessibility, as far as axe-core can see it.
use crate::{Page, Result};
use serde_json::Value;
use xtask::npm;

const RUN: &str = "
const done = arguments[arguments.length - 1];
axe.run(document, { resultTypes: ['violations'] }).then(
  (results) => done({ violations: results.violations, passes: results.passes.length }),
  (error) => done({ failed: String(error) }),
);";

impl Page {
    /// Fails with every rule that the page, as it is now, breaks.
    pub async fn accessible(&self) -> Result {
        let file = npm::modules().join("axe-core/axe.min.js");
        let axe = std::fs::read_to_string(&file).map_err(|error| {
            format!("axe-core ({error}): run `cargo xtask test`, which fetches it")
        })?;
        self.script(&axe).await?;
        let result = self.script_async(RUN).await?;
        if let Some(message) = result["failed"].as_str() {
            return Err(format!("axe-core did not run: {message}").into());
        }
        // A run that looked at nothing would find nothing wrong.
        if result["passes"].as_u64().unwrap_or(0) == 0 {
            return Err(format!("axe-core checked nothing: {result}").into());
        }
        let violations = result["violations"].as_array().map_or(&[][..], Vec::as_slice);
        if violations.is_empty() {
            return Ok(());
        }
        Err(violations.iter().map(describe).collect::<Vec<_>>().join("\n").into())
    }
}

fn describe(violation: &Value) -> String {
    let nodes = violation["nodes"].as_array().map_or(&[][..], Vec::as_slice);
    let places: Vec<String> = nodes
        .iter()
        .map(|node| {
            format!("  {}: {}", node["target"], node["failureSummary"].as_str().unwrap_or(""))
        })
        .collect();
    let (id, help) = (&violation["id"], &violation["help"]);
    format!("axe {id} {help}\n{}", places.join("\n"))
}
