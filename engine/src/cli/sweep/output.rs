//! Where the lines of a sweep go, and those that are there already.

use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, ErrorKind, Read, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::super::json;
use super::super::output::Failure;

/// An output in progress.
pub struct Lines {
    out: BufWriter<Box<dyn Write>>,
    kept: usize,
    name: String,
}

/// What is looked at of a line that is there.
#[derive(Deserialize)]
struct Numbered {
    index: usize,
}

impl Lines {
    /// Standard output, or a file behind the lines that it holds already. These must be the first
    /// of `numbers`; what was cut off in the middle of a line is written anew.
    pub fn open(path: Option<&Path>, numbers: &[usize]) -> Result<Self, Failure> {
        let Some(path) = path else {
            let out: Box<dyn Write> = Box::new(io::stdout());
            return Ok(Self { out: BufWriter::new(out), kept: 0, name: "output".to_owned() });
        };
        let name = path.display().to_string();
        let cannot = |error: io::Error| Failure::Usage(format!("{name}: {error}"));
        let mut options = OpenOptions::new();
        let file = options.read(true).write(true).create(true).truncate(false).open(path);
        let mut file = file.map_err(cannot)?;
        let mut text = Vec::new();
        file.read_to_end(&mut text).map_err(cannot)?;
        let (kept, bytes) = whole_lines(&text, numbers).map_err(|line| {
            Failure::Usage(format!(
                "{name}: line {line} is not of this sweep and shard: name another file, or remove \
                 this one"
            ))
        })?;
        file.set_len(bytes as u64).map_err(cannot)?;
        let file = behind(file).map_err(cannot)?;
        Ok(Self { out: BufWriter::new(Box::new(file)), kept, name })
    }

    /// Lines that were there.
    pub fn kept(&self) -> usize {
        self.kept
    }

    /// Writes a line; whether anybody reads on.
    pub fn write(&mut self, line: &str) -> Result<bool, Failure> {
        let written = writeln!(self.out, "{line}");
        self.is_read(written)
    }

    /// Everything so far is where it should be: what a run that is killed now leaves behind.
    pub fn flush(&mut self) -> Result<bool, Failure> {
        let flushed = self.out.flush();
        self.is_read(flushed)
    }

    /// The last lines, and on standard error what was done.
    pub fn close(mut self, summary: &impl Serialize) -> Result<(), Failure> {
        self.flush()?;
        if let Ok(summary) = json::compact(summary) {
            // Standard error may be closed; the lines are written all the same.
            let _ = writeln!(io::stderr(), "{summary}");
        }
        Ok(())
    }

    fn is_read(&self, written: io::Result<()>) -> Result<bool, Failure> {
        match written {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(false),
            Err(error) => Err(Failure::Usage(format!("{} cannot be written: {error}", self.name))),
        }
    }
}

/// The file at its end.
fn behind(mut file: File) -> io::Result<File> {
    io::Seek::seek(&mut file, io::SeekFrom::End(0))?;
    Ok(file)
}

/// How many whole lines `text` holds and in how many bytes; the number of the first that is not
/// the one expected there.
fn whole_lines(text: &[u8], numbers: &[usize]) -> Result<(usize, usize), usize> {
    let (mut kept, mut bytes) = (0, 0);
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        if line.last() != Some(&b'\n') {
            break; // cut off while it was written
        }
        let number = serde_json::from_slice::<Numbered>(line).map(|line| line.index).ok();
        if number.is_none() || number != numbers.get(kept).copied() {
            return Err(kept + 1);
        }
        (kept, bytes) = (kept + 1, bytes + line.len());
    }
    Ok((kept, bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_lines_of_this_shard_are_kept_and_half_a_line_is_not() {
        let text = b"{\"index\":1}\n{\"index\":4}\n{\"ind";
        assert_eq!(whole_lines(text, &[1, 4, 7]), Ok((2, 24)));
        assert_eq!(whole_lines(text, &[1, 5]), Err(2));
        assert_eq!(whole_lines(text, &[1]), Err(2));
        assert_eq!(whole_lines(b"not JSON\n", &[0]), Err(1));
        assert_eq!(whole_lines(b"", &[0]), Ok((0, 0)));
    }
}
