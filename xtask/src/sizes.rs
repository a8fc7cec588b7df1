//! How many bytes each part of the built page costs a visitor.
use crate::{Result, page::Build, process::read, project};
use std::{path::Path, process::Command};

/// One download: the files that come together, and what they may weigh.
struct Part {
    name: &'static str,
    prefixes: &'static [&'static str],
    /// What the project aims for, in kB (1,000 bytes) after `gzip -9`.
    aim_kb: u64,
    /// Beyond this the check fails.
    limit_kb: u64,
}

const PARTS: [Part; 3] = [
    Part {
        name: "page",
        prefixes: &["app-", "boot", "index", "style", "tokens"],
        aim_kb: 350,
        // Far above the aim: half of it is reading and writing documents and reports.
        limit_kb: 900,
    },
    Part {
        name: "simulator worker",
        prefixes: &["simulator"],
        aim_kb: 250,
        // It fits benchmarks too: reading points and writing reports of fits is a quarter of it.
        limit_kb: 400,
    },
    Part { name: "reader worker", prefixes: &["reader"], aim_kb: 300, limit_kb: 390 },
];

/// Prints the size of every part and fails for one far above its budget, which is for a page that
/// wasm-opt has shrunk.
pub fn check(build: Build) -> Result {
    let mut too_big = Vec::new();
    for part in PARTS {
        let (bytes, files) = weigh(&project::dist(), part.prefixes)?;
        if files == 0 {
            return Err(format!("the built page has no files of the {}", part.name));
        }
        let kb = bytes.div_ceil(1000);
        println!("{:<17} {kb:>4} kB gzip -9 in {files} files (aim {} kB)", part.name, part.aim_kb);
        if build == Build::Optimized && kb > part.limit_kb {
            too_big.push(format!("{}: {kb} kB, limit {} kB", part.name, part.limit_kb));
        }
    }
    if build == Build::Plain {
        println!("without wasm-opt (no npm): not held against the budget");
    }
    if too_big.is_empty() { Ok(()) } else { Err(format!("too big: {}", too_big.join("; "))) }
}

/// Compressed bytes and number of the files whose names begin so.
fn weigh(folder: &Path, prefixes: &[&str]) -> Result<(u64, usize)> {
    let entries = std::fs::read_dir(folder)
        .map_err(|error| format!("{}: {error}; build the page first", folder.display()))?;
    let (mut bytes, mut files) = (0, 0);
    for entry in entries {
        let entry = entry.map_err(|error| format!("{}: {error}", folder.display()))?;
        let name = entry.file_name();
        if prefixes.iter().any(|prefix| name.to_string_lossy().starts_with(prefix)) {
            bytes += gzip_bytes(&entry.path())?;
            files += 1;
        }
    }
    Ok((bytes, files))
}

fn gzip_bytes(file: &Path) -> Result<u64> {
    // Through the shell's own count: the compressed bytes are not text.
    let script = "gzip -9c \"$1\" | wc -c";
    let count = read(Command::new("sh").args(["-c", script, "sh"]).arg(file))?;
    count.trim().parse().map_err(|error| format!("gzip {}: {error}", file.display()))
}
