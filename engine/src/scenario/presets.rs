//! Worked examples: whole scenarios with sources, each of which shows one thing.
//!
//! Adding one is a file in `presets/` and a line here. What each shows is tested in
//! `engine/tests/presets.rs`.

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use super::doc::ScenarioDoc;

/// A worked example.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Preset {
    /// Id, also the name of its file.
    pub id: &'static str,
    /// Name for people, that of the scenario.
    pub name: String,
    /// What it shows, in a few sentences.
    pub summary: String,
    /// Where its numbers come from, and which are assumed.
    pub sources: Vec<String>,
    /// The scenario.
    #[serde(rename = "scenario")]
    pub doc: ScenarioDoc,
}

const FILES: [(&str, &str); 17] = [
    ("chat-peak", include_str!("presets/chat-peak.json")),
    ("outputs-double", include_str!("presets/outputs-double.json")),
    ("benchmark-says-capacity", include_str!("presets/benchmark-says-capacity.json")),
    ("azure-conversation", include_str!("presets/azure-conversation.json")),
    ("evenly-spaced", include_str!("presets/evenly-spaced.json")),
    ("declared-capacity", include_str!("presets/declared-capacity.json")),
    ("batch-beside-chat", include_str!("presets/batch-beside-chat.json")),
    ("azure-code", include_str!("presets/azure-code.json")),
    ("rag-answers", include_str!("presets/rag-answers.json")),
    ("agentic-coding", include_str!("presets/agentic-coding.json")),
    ("agentic-sessions", include_str!("presets/agentic-sessions.json")),
    ("shared-prompts", include_str!("presets/shared-prompts.json")),
    ("reasoning", include_str!("presets/reasoning.json")),
    ("long-documents", include_str!("presets/long-documents.json")),
    ("mooncake-conversation", include_str!("presets/mooncake-conversation.json")),
    ("voice", include_str!("presets/voice.json")),
    ("multi-tenant", include_str!("presets/multi-tenant.json")),
];

/// All worked examples; the first is the one that a newcomer sees.
pub fn presets() -> &'static [Preset] {
    &PRESETS
}

/// The worked example of that id.
pub fn preset(id: &str) -> Option<&'static Preset> {
    presets().iter().find(|preset| preset.id == id)
}

static PRESETS: LazyLock<Vec<Preset>> = LazyLock::new(|| {
    let read = |(id, text)| {
        read(id, text)
            .unwrap_or_else(|why| unreachable!("the embedded preset {id} is sound: {why}"))
    };
    FILES.into_iter().map(read).collect()
});

fn read(id: &'static str, text: &str) -> serde_json::Result<Preset> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct File {
        summary: String,
        sources: Vec<String>,
        scenario: ScenarioDoc,
    }
    let File { summary, sources, scenario } = serde_json::from_str(text)?;
    Ok(Preset { id, name: scenario.name.clone(), summary, sources, doc: scenario })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::doc::{LengthsDoc, StepTimeSourceDoc};
    use crate::scenario::link::{self, LONG_LINK_CHARS};
    use crate::scenario::{Checked, check};
    use crate::workload::{Mix, demand};

    /// What the page can simulate at every edit.
    const MOST_REQUESTS: usize = 15_000;

    fn mix(id: &str) -> Mix {
        let scenario = check(&preset(id).unwrap().doc).unwrap().scenario;
        Mix::of(&scenario.offered().unwrap())
    }

    #[test]
    fn every_preset_is_valid_sourced_small_and_short_as_a_link() {
        for Preset { id, name, summary, sources, doc } in presets() {
            let Checked { scenario, warnings } = check(doc).unwrap();
            assert_eq!(warnings, [], "{id}");
            assert!(scenario.pool.memory.does_not_fit.is_none(), "{id}");
            assert!(
                scenario.pool.price.as_ref().is_some_and(|price| !price.source.is_empty()),
                "{id}"
            );
            let offered = scenario.mix().unwrap().len();
            assert!((1_000..=MOST_REQUESTS).contains(&offered), "{id}: {offered}");
            let link = link::encode(doc).unwrap();
            assert!(link.fragment.len() < LONG_LINK_CHARS, "{id}: {}", link.fragment.len());
            assert_eq!(link::decode(&link.fragment).unwrap().doc, *doc, "{id}");
            assert!(!name.is_empty() && summary.len() > 40 && sources.len() >= 2, "{id}");
        }
    }

    #[test]
    fn ids_and_names_are_unique() {
        for (i, preset) in presets().iter().enumerate() {
            for other in &presets()[..i] {
                assert!(preset.id != other.id && preset.name != other.name, "{}", preset.id);
            }
        }
    }

    #[test]
    fn outputs_double_and_nothing_else() {
        let mut doubled = preset("chat-peak").unwrap().doc.clone();
        doubled.name = "Outputs double at the same rate".to_owned();
        let output = &mut doubled.workload.classes[0].output_tokens;
        let LengthsDoc::Lognormal(law) = output else { panic!("{output:?}") };
        (law.mean, law.p99) = (law.mean.map(|m| m * 2.0), law.p99.map(|p| p * 2.0));
        assert_eq!(doubled, preset("outputs-double").unwrap().doc);
    }

    #[test]
    fn the_even_example_is_137_times_731() {
        let scenario = check(&preset("evenly-spaced").unwrap().doc).unwrap().scenario;
        let requests = scenario.offered().unwrap();
        let demand = demand(&scenario.classes, &requests, scenario.horizon, 100);
        assert!(demand.bins.iter().all(|bin| bin.output_tokens == 100_147));
    }

    #[test]
    fn the_declared_example_declares_120_000_tokens_per_second() {
        let pool = &preset("declared-capacity").unwrap().doc.fleet.pools[0];
        let StepTimeSourceDoc::Declared { declared_output_tps: Some(tps), .. } =
            pool.step_time.source
        else {
            panic!("{:?}", pool.step_time.source)
        };
        assert!((tps * f64::from(pool.replicas) - 120_000.0).abs() < 1e-9);
    }

    #[test]
    fn the_azure_example_has_the_means_of_the_trace() {
        // AzureLLMInferenceTrace_conv.csv: 1,154.7 tokens in and 211.1 out in the mean.
        let mix = mix("azure-conversation");
        assert!((mix.mean_input_tokens / 1_154.7 - 1.0).abs() < 0.03, "{}", mix.mean_input_tokens);
        assert!((mix.mean_output_tokens / 211.1 - 1.0).abs() < 0.03, "{}", mix.mean_output_tokens);
    }
}
