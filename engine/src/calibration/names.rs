//! Whether two spellings name the same model, or the same GPU.
//!
//! Files spell names as their tools do ("meta-llama/Llama-3.1-8B-Instruct", "NVIDIA H100 80GB
//! HBM3"), the catalogue in its own way. Case and separators mean nothing, and a longer name may
//! say more than a shorter one; but what a name is cut at must be a separator in the longer one:
//! an L4 is no L40S, an H20 no H200, and a size that two models share makes them no one model.

/// Words that make another model of a name that continues with them.
const OTHER_MODELS: [&str; 3] = ["distill", "mini", "lite"];

/// Whether `stated` and `ours` name the same model: one contains the other
/// ("Qwen/Qwen2.5-7B-Instruct", "qwen2.5 7b"), and is no smaller sibling of it.
pub fn same_model(stated: &str, ours: &str) -> bool {
    let sibling = |name: &str| {
        let words = words(name);
        OTHER_MODELS.iter().filter(|other| words.iter().any(|word| word == *other)).count()
    };
    one_contains_the_other(after_owner(stated), after_owner(ours))
        && sibling(stated) == sibling(ours)
}

/// Whether `stated` and `ours` name the same GPU: one contains the other, or the word that tells
/// GPUs apart is the same ("8xH100 FP8", "NVIDIA H100 80GB HBM3", "H100-SXM").
pub fn same_gpu(stated: &str, ours: &str) -> bool {
    let (stated, ours) = (words(stated), words(ours));
    let same_chip = chip(&stated).is_some_and(|word| Some(word) == chip(&ours));
    same_chip || one_contains_the_other(&stated.join(" "), &ours.join(" "))
}

/// The part after an owner ("meta-llama/").
fn after_owner(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

/// Words in lower case, without a count before them ("8xH100").
fn words(name: &str) -> Vec<String> {
    let words = name.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words
        .map(|word| {
            let word = word.to_lowercase();
            let uncounted = word.trim_start_matches(|c: char| c.is_ascii_digit());
            match uncounted.strip_prefix('x') {
                Some(rest) if rest.starts_with(char::is_alphabetic) && uncounted != word => {
                    rest.to_owned()
                }
                _ => word,
            }
        })
        .collect()
}

/// The first word with one or two letters before figures (H100, L40S, MI300X, v5e), or of four
/// figures with the word before it (RTX 4090, PRO 6000).
fn chip(words: &[String]) -> Option<(&str, &str)> {
    words.iter().enumerate().find_map(|(i, word)| {
        let letters = word.find(|c: char| c.is_ascii_digit())?;
        let before = if i > 0 { words[i - 1].as_str() } else { "" };
        match letters {
            0 if word.len() == 4 && word.bytes().all(|b| b.is_ascii_digit()) => {
                Some((before, word.as_str()))
            }
            1 | 2 if word.is_ascii() => Some(("", word.as_str())),
            _ => None,
        }
    })
}

fn one_contains_the_other(a: &str, b: &str) -> bool {
    let (a, b) = (Plain::of(a), Plain::of(b));
    a.contains(&b) || b.contains(&a)
}

/// Letters and figures of a name in lower case, and before which of them a separator stood.
struct Plain {
    chars: Vec<char>,
    /// One more than `chars`: the end is a border too.
    is_border: Vec<bool>,
}

impl Plain {
    fn of(name: &str) -> Self {
        let (mut chars, mut is_border, mut border) = (Vec::new(), Vec::new(), true);
        for c in name.chars() {
            if c.is_alphanumeric() {
                for lower in c.to_lowercase() {
                    chars.push(lower);
                    is_border.push(std::mem::take(&mut border));
                }
            } else {
                border = true;
            }
        }
        is_border.push(true);
        Self { chars, is_border }
    }

    fn contains(&self, part: &Self) -> bool {
        let length = part.chars.len();
        length > 0
            && self.chars.windows(length).enumerate().any(|(at, window)| {
                window == part.chars && self.is_border[at] && self.is_border[at + length]
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog;

    #[test]
    fn spellings_of_one_thing_are_the_same() {
        for (stated, ours) in [
            ("meta-llama/Llama-3.1-8B-Instruct", "Llama-3.1-8B"),
            ("llama3.1 8b", "Llama-3.1-8B"),
            ("llama-3-1-8b-instruct", "Llama-3.1-8B"),
            ("Meta-Llama-3.1-405B-Instruct-FP8", "Llama-3.1-405B"),
            ("Qwen3-30B", "Qwen3-30B-A3B"),
        ] {
            assert!(same_model(stated, ours) && same_model(ours, stated), "{stated} {ours}");
        }
        for (stated, ours) in [
            ("NVIDIA H100 80GB HBM3", "H100-SXM"),
            ("8xH100 1FP8-meta", "H100-SXM"),
            ("NVIDIA-A100-SXM4-80GB", "A100-80G-SXM"),
            ("NVIDIA GeForce RTX 4090", "RTX-4090"),
            ("AMD Instinct MI300X OAM", "MI300X"),
            ("RTXPRO6000", "RTX-PRO-6000-SE"),
            ("Tesla T4", "T4"),
        ] {
            assert!(same_gpu(stated, ours) && same_gpu(ours, stated), "{stated} {ours}");
        }
    }

    #[test]
    fn a_shared_size_or_a_shared_beginning_makes_nothing_the_same() {
        for (stated, ours) in [
            ("Qwen/Qwen2.5-32B-Instruct", "Qwen3-32B"),
            ("Llama-3.3-70B", "Llama-3.1-70B"),
            ("meta-llama/Meta-Llama-3-8B", "Llama-3.1-8B"),
            ("DeepSeek-R1-Distill-Qwen-32B", "DeepSeek-R1"),
            ("Phi-4-mini-instruct", "Phi-4"),
            ("", "Phi-4"),
        ] {
            assert!(!same_model(stated, ours) && !same_model(ours, stated), "{stated} {ours}");
        }
        for (stated, ours) in [
            ("L4", "L40S"),
            ("L40", "L40S"),
            ("H20", "H200-SXM"),
            ("A10", "A100-80G-SXM"),
            ("NVIDIA A10G", "A10"),
            ("B300", "GB300"),
            ("RTX 6000 Ada", "RTX-PRO-6000-SE"),
            (" - ", "T4"),
        ] {
            assert!(!same_gpu(stated, ours) && !same_gpu(ours, stated), "{stated} {ours}");
        }
    }

    #[test]
    fn no_two_models_of_the_catalogue_are_the_same() {
        let ids: Vec<&str> = catalog::models().iter().map(|entry| entry.id.as_str()).collect();
        for a in &ids {
            for b in &ids {
                assert_eq!(same_model(a, b), a == b, "{a} {b}");
            }
        }
    }
}
