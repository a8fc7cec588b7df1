//! Running other programs: shown, hidden in a log, or read.
use crate::Result;
use std::{
    fs::File,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::Instant,
};

/// The cargo that runs this task.
pub fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(crate::project::root());
    command
}

/// Runs a program that writes to the terminal.
pub fn show(command: &mut Command) -> Result {
    let status = command.status().map_err(|error| cannot_start(command, &error))?;
    if status.success() { Ok(()) } else { Err(format!("`{}` failed", line(command))) }
}

/// Runs a long step behind one line of progress. Its own output goes into a log, whose end is
/// shown if the step fails.
pub fn quietly(what: &str, command: &mut Command, log: &Path) -> Result {
    eprintln!("{what} …");
    let started = Instant::now();
    let open = || {
        std::fs::create_dir_all(log.parent().unwrap_or(Path::new(".")))?;
        let file = File::create(log)?;
        Ok((file.try_clone()?, file))
    };
    let (out, err) =
        open().map_err(|error: std::io::Error| format!("{}: {error}", log.display()))?;
    let status = command
        .stdin(Stdio::null())
        .stdout(out)
        .stderr(err)
        .status()
        .map_err(|error| cannot_start(command, &error))?;
    if status.success() {
        eprintln!("{what}: done in {} s", started.elapsed().as_secs());
        return Ok(());
    }
    let text = std::fs::read_to_string(log).unwrap_or_default();
    let lines: Vec<&str> = text.lines().collect();
    let tail = lines[lines.len().saturating_sub(20)..].join("\n");
    Err(format!("`{}` failed (whole output in {}):\n{tail}", line(command), log.display()))
}

/// Standard output of a program that succeeded.
pub fn read(command: &mut Command) -> Result<String> {
    let output =
        command.stderr(Stdio::inherit()).output().map_err(|error| cannot_start(command, &error))?;
    if !output.status.success() {
        return Err(format!("`{}` failed", line(command)));
    }
    String::from_utf8(output.stdout).map_err(|error| format!("`{}`: {error}", line(command)))
}

/// What `PROGRAM --version` says, or `None` when it cannot be run.
pub fn version(program: &Path) -> Option<String> {
    let output = Command::new(program).arg("--version").stderr(Stdio::null()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// The first of these programs that is on the path.
pub fn on_path(names: &[&str]) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    names
        .iter()
        .flat_map(|name| std::env::split_paths(&path).map(move |folder| folder.join(name)))
        .find(|file| file.is_file())
}

fn cannot_start(command: &Command, error: &std::io::Error) -> String {
    format!("`{}` could not be started: {error}", line(command))
}

fn line(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
}
