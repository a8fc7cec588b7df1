//! How many bytes each part of the built page costs a visitor.
use crate::{Result, page::Build, process::read, project};
use std::{path::Path, process::Command};

/// One download: the files that come together, and what they may weigh.
struct Part {
    name: &'static str,
    /// How the names of its files begin; the page is all files of no other part.
    prefix: &'static str,
    /// What the project aims for, in kB (1,000 bytes) after `gzip -9`.
    aim_kb: u64,
    /// Beyond this the check fails.
    limit_kb: u64,
}

const PARTS: [Part; 3] = [
    // More than three times the aim: a quarter of it reads and writes documents and reports, and the
    // framework's share grows with every signal and view: the editors of pools, routes, replica life and
    // sessions weigh 50 kB with what they show, causes, percentiles and remedies another 45.
    Part { name: "page", prefix: "", aim_kb: 350, limit_kb: 1_230 },
    // It fits benchmarks, accounts for every request and answers what views ask: reading points and
    // writing those reports is a third of it; remedies, the scheduler's rules and their engines 65 kB.
    Part { name: "simulator worker", prefix: "simulator", aim_kb: 250, limit_kb: 790 },
    // It judges the requests of uploaded runs, as the simulator does those that it simulated; formats and
    // traces of the second tier are 40 kB of it.
    Part { name: "reader worker", prefix: "reader", aim_kb: 300, limit_kb: 505 },
];

/// Prints the size of every part and fails for one far above its budget, which is for a page that
/// wasm-opt has shrunk.
pub fn check(build: Build) -> Result {
    let sizes = print()?;
    if build == Build::Plain {
        println!("without wasm-opt (no npm): not held against the budget");
        return Ok(());
    }
    let too_big: Vec<String> = PARTS
        .iter()
        .zip(sizes)
        .filter(|(part, kb)| *kb > part.limit_kb)
        .map(|(part, kb)| format!("{}: {kb} kB, limit {} kB", part.name, part.limit_kb))
        .collect();
    if too_big.is_empty() { Ok(()) } else { Err(format!("too big: {}", too_big.join("; "))) }
}

/// Prints and returns the size of every part, kB.
pub fn print() -> Result<[u64; PARTS.len()]> {
    let weighed = weigh(&project::dist())?;
    for (part, (bytes, files)) in PARTS.iter().zip(weighed) {
        if files == 0 {
            return Err(format!("the built page has no files of the {}", part.name));
        }
        let kb = bytes.div_ceil(1000);
        println!("{:<17} {kb:>4} kB gzip -9 in {files} files (aim {} kB)", part.name, part.aim_kb);
    }
    Ok(weighed.map(|(bytes, _)| bytes.div_ceil(1000)))
}

/// Compressed bytes and number of the files of every part.
fn weigh(folder: &Path) -> Result<[(u64, usize); PARTS.len()]> {
    let entries = std::fs::read_dir(folder)
        .map_err(|error| format!("{}: {error}; build the page first", folder.display()))?;
    let mut weighed = [(0, 0); PARTS.len()];
    for entry in entries {
        let entry = entry.map_err(|error| format!("{}: {error}", folder.display()))?;
        let (bytes, files) = &mut weighed[part_of(&entry.file_name().to_string_lossy())];
        *bytes += gzip_bytes(&entry.path())?;
        *files += 1;
    }
    Ok(weighed)
}

/// Index of the part that a file belongs to.
fn part_of(name: &str) -> usize {
    let named = |part: &Part| !part.prefix.is_empty() && name.starts_with(part.prefix);
    PARTS.iter().position(named).unwrap_or_default()
}

fn gzip_bytes(file: &Path) -> Result<u64> {
    // Through the shell's own count: the compressed bytes are not text.
    let script = "gzip -9c \"$1\" | wc -c";
    let count = read(Command::new("sh").args(["-c", script, "sh"]).arg(file))?;
    count.trim().parse().map_err(|error| format!("gzip {}: {error}", file.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_belongs_to_no_worker_belongs_to_the_page() {
        let names = ["simulator_bg.wasm", "reader.js", "app-0123_bg.wasm", "index.html", "any.css"];
        let parts = names.map(|name| PARTS[part_of(name)].name);
        assert_eq!(parts, ["simulator worker", "reader worker", "page", "page", "page"]);
    }
}
