//! `cargo xtask bench`: how fast the simulator is, natively and in WebAssembly, kept in
//! `docs/bench.md`. It measures and asserts nothing: times depend on the machine.
use crate::{
    Result, npm,
    process::{cargo, on_path, quietly, read, show},
    project, tools,
};
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// What the command line says.
pub struct Options {
    /// Runs of each yardstick, of which the fastest counts.
    pub repeats: u32,
}

/// Measures both, prints the table and writes it down.
pub fn run(options: &Options) -> Result {
    let node = on_path(&["node"]).ok_or("the WebAssembly half runs in Node: no `node` on PATH")?;
    tools::install()?;
    let script = build()?;
    let repeats = options.repeats.to_string();
    eprintln!("measuring in WebAssembly …");
    let json = read(Command::new(&node).arg(&script).arg(&repeats))?;
    let beside = script.with_file_name("measured.json");
    write(&beside, &json)?;
    eprintln!("measuring natively …");
    let bench = ["run", "--quiet", "--release", "-p", "goodput-engine", "--bin", "goodput", "--"];
    let mut native = cargo();
    native.args(bench).args(["bench", "--text", "--repeats", &repeats, "--beside"]).arg(&beside);
    let table = read(&mut native)?;
    let page = page(&table, &machine(&node)?);
    print!("{page}");
    write(&project::root().join("docs").join("bench.md"), &page)
}

/// Compiles the yardsticks as the page's workers are. Returns the script that runs them in Node.
fn build() -> Result<PathBuf> {
    let name = "yardsticks";
    let profile = ["--profile", "worker", "--target", tools::WASM];
    show(cargo().args(["build", "-p", "goodput-engine", "--example", name]).args(profile))?;
    let target = std::env::var_os("CARGO_TARGET_DIR")
        .map_or_else(|| project::root().join("target"), |folder| project::root().join(folder));
    let compiled =
        target.join(tools::WASM).join("worker").join("examples").join(name).with_extension("wasm");
    let folder = target.join("bench");
    let mut bind = Command::new("wasm-bindgen");
    bind.args(["--target", "nodejs", "--no-typescript", "--out-dir"]);
    bind.arg(&folder).arg(compiled).env("PATH", tools::path()?);
    quietly("binding the yardsticks", &mut bind, &tools::log("bench-bindgen"))?;
    if npm::present() {
        npm::install()?;
        let bound = folder.join("yardsticks_bg.wasm");
        let mut shrink = Command::new("wasm-opt");
        shrink.args(["-Oz", "--all-features"]).arg(&bound).arg("-o").arg(&bound);
        shrink.env("PATH", tools::path()?);
        quietly("shrinking them as the page's are", &mut shrink, &tools::log("bench-wasm-opt"))?;
    }
    Ok(folder.join(name).with_extension("js"))
}

/// What the numbers are of.
fn machine(node: &Path) -> Result<String> {
    let first = |file: &str, key: &str| {
        let text = fs::read_to_string(file).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix(key)?.split_once(':'));
        line.map_or_else(|| "unknown".to_owned(), |(_, value)| value.trim().to_owned())
    };
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let rustc = read(Command::new("rustc").arg("--version"))?;
    let versions =
        read(Command::new(node).args(["-p", "process.version + ', V8 ' + process.versions.v8"]))?;
    Ok(format!(
        "- processor: {} ({cores} cores; one thread is used)\n- memory: {}\n- compiler: {}\n\
         - WebAssembly: Node {}, compiled as the page's workers\n",
        first("/proc/cpuinfo", "model name"),
        first("/proc/meminfo", "MemTotal"),
        rustc.trim(),
        versions.trim(),
    ))
}

fn page(table: &str, machine: &str) -> String {
    format!(
        "# How fast the simulator is\n\nThe last run of `cargo xtask bench`, which writes this \
         file.\n\n{machine}\n{table}\n× wasm: seconds in WebAssembly over seconds here.\n"
    )
}

fn write(path: &Path, text: &str) -> Result {
    fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_says_what_was_measured_on_what() {
        let page = page("| workload |\n", "- processor: one\n");
        assert!(
            page.starts_with("# How fast") && page.contains("- processor: one\n\n| workload |")
        );
    }
}
