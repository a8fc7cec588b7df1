//! The sources of presets, with the way to what is public.

/// A piece of a source: text, or a link to a repository that it names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// As it stands.
    Text(String),
    /// Its name as it stands, and its address.
    Link(String, String),
}

/// Repositories that sources name, as they spell them.
const REPOSITORIES: [&str; 7] = [
    "kubernetes-sigs/inference-perf",
    "alibaba/ServeGen",
    "Azure/AzurePublicDataset",
    "kvcache-ai/Mooncake",
    "microsoft/vidur",
    "redhat-et/compass",
    "vllm-project/vllm",
];

/// The pieces of a source in their order; they join to its text.
pub fn pieces(source: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut rest = source;
    while let Some((at, name)) =
        REPOSITORIES.iter().filter_map(|name| Some((rest.find(name)?, *name))).min()
    {
        let after = &rest[at + name.len()..];
        // The version that was read, where the source says which.
        let commit = after.strip_prefix('@').map(|text| {
            let end = text.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(text.len());
            &text[..end]
        });
        let (shown, url) = match commit {
            Some(commit) => (
                &rest[at..=at + name.len() + commit.len()],
                format!("https://github.com/{name}/tree/{commit}"),
            ),
            None => (name, format!("https://github.com/{name}")),
        };
        if at > 0 {
            pieces.push(Piece::Text(rest[..at].to_owned()));
        }
        rest = &rest[at + shown.len()..];
        pieces.push(Piece::Link(shown.to_owned(), url));
    }
    if !rest.is_empty() {
        pieces.push(Piece::Text(rest.to_owned()));
    }
    pieces
}

#[cfg(test)]
mod tests {
    use goodput_engine::scenario::presets;

    use super::*;

    #[test]
    fn repositories_are_links_at_the_version_that_was_read() {
        let found = pieces("Lengths: alibaba/ServeGen@f891d118 (Apache-2.0)");
        let link = |text: &str, url: &str| Piece::Link(text.to_owned(), url.to_owned());
        assert_eq!(
            found,
            [
                Piece::Text("Lengths: ".to_owned()),
                link(
                    "alibaba/ServeGen@f891d118",
                    "https://github.com/alibaba/ServeGen/tree/f891d118"
                ),
                Piece::Text(" (Apache-2.0)".to_owned()),
            ]
        );
        let whole = pieces("vllm-project/vllm");
        assert_eq!(whole, [link("vllm-project/vllm", "https://github.com/vllm-project/vllm")]);
        assert_eq!(pieces(""), []);
    }

    /// Nothing of a source is lost, and every repository of the list is named by some source.
    #[test]
    fn pieces_join_to_the_source() {
        let mut linked = Vec::new();
        for source in presets::presets().iter().flat_map(|preset| &preset.sources) {
            let pieces = pieces(source);
            let text: String = pieces
                .iter()
                .map(|piece| match piece {
                    Piece::Text(text) | Piece::Link(text, _) => text.as_str(),
                })
                .collect();
            assert_eq!(&text, source);
            linked.extend(pieces.into_iter().filter_map(|piece| match piece {
                Piece::Link(_, url) => Some(url),
                Piece::Text(_) => None,
            }));
        }
        for name in REPOSITORIES {
            assert!(linked.iter().any(|url| url.contains(name)), "{name} is in no source");
        }
    }
}
