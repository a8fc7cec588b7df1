//! Formats whose files hold one object per run, or lists of them: the loop they share, and the
//! pieces of a point that only differ in the names of their keys.

use super::gathered::Gathered;
use super::reading::Reading;
use super::registry::Body;
use super::tree::Node;
use super::{BenchmarkPoint, Length, LengthSource, Refusal, TokenKind, TokenRate, json};

/// What makes a run a point, or why it is none.
pub(super) type OfRun = fn(&mut Reading, &Node) -> Result<BenchmarkPoint, &'static str>;

/// The points of a text of JSON objects, one after another or in lists.
pub(super) fn of_json(text: &str, of_run: OfRun) -> Result<Body, Refusal> {
    let text = json::quote_not_finite(text);
    let mut gathered = Gathered::default();
    json::for_each_value(&text, |line, document: Node| match document {
        Node::List(runs) => add(&mut gathered, line, &runs, of_run),
        one => add(&mut gathered, line, &[one], of_run),
    })?;
    finish(gathered)
}

/// Runs that begin on one line, as points.
pub(super) fn add(
    gathered: &mut Gathered,
    line: u64,
    runs: &[Node],
    of_run: OfRun,
) -> Result<(), Refusal> {
    gathered.make_room(runs.len())?;
    for run in runs {
        let mut reading = Reading { line, remarks: &mut gathered.remarks };
        match of_run(&mut reading, run) {
            Ok(mut point) => {
                point.row = Some(gathered.next_row());
                point.drop_zeros_without_data();
                point.list_missing();
                gathered.points.push(point);
            }
            Err(reason) => gathered.exclude_run(reason),
        }
    }
    Ok(())
}

/// The account of the runs; a file without a single one is refused.
pub(super) fn finish(gathered: Gathered) -> Result<Body, Refusal> {
    if let Some(reason) = gathered.nothing_left() {
        let hint = "upload the file of a run that measured something";
        return Err(Refusal::broken(
            format!("the file holds no run that can be used: {reason}"),
            hint,
        ));
    }
    Ok(gathered.finish("runs"))
}

impl Reading<'_> {
    /// Rates of tokens, each under its path; what is not there is left out.
    pub(super) fn token_rates(
        &mut self,
        run: &Node,
        paths: &[(TokenKind, &str)],
    ) -> Vec<TokenRate> {
        let rate = |&(kind, path): &(TokenKind, &str)| {
            Some(TokenRate { kind, tps: self.quantity(run, &[path])? })
        };
        paths.iter().filter_map(rate).collect()
    }

    /// A length that was asked for.
    pub(super) fn asked_length(&mut self, run: &Node, path: &str) -> Option<Length> {
        let mean_tokens = self.quantity(run, &[path])?;
        Some(Length { mean_tokens, source: LengthSource::Declared })
    }

    /// Tokens of all completed requests as the length of one.
    pub(super) fn share_of(
        &mut self,
        run: &Node,
        path: &str,
        completed: Option<u64>,
    ) -> Option<Length> {
        let total = self.quantity(run, &[path])?;
        let completed = completed.filter(|completed| *completed > 0)? as f64;
        Some(Length { mean_tokens: total / completed, source: LengthSource::Measured })
    }
}

/// Values that are worth keeping as they are written, under their own names.
pub(super) fn keep_settings(point: &mut BenchmarkPoint, run: &Node, paths: &[&str]) {
    for path in paths {
        let words = match run.at(path) {
            Some(Node::Bool(value)) => Some(value.to_string()),
            value => value.and_then(Node::words),
        };
        let name = path.rsplit('/').next().unwrap_or(path);
        point.context.settings.extend(words.map(|words| (name.to_owned(), words)));
    }
}
