//! What a user says about a table whose own header does not say it.

use super::columns::{Meaning, meaning};
use super::units::{normalised, splits};

/// How a table is to be read. The default is as its header says, and to ask where that leaves
/// something open.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TableReading {
    renamed: Vec<Renamed>,
    /// What parts decimals.
    pub decimals: Option<Decimals>,
}

/// What parts decimals; the other mark parts thousands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decimals {
    /// `1,234.5`
    Point,
    /// `1.234,5`
    Comma,
}

/// A column that is read under another name.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Renamed {
    /// As the template would have it, with its unit.
    name: String,
    /// As the file has it.
    header: String,
}

impl TableReading {
    /// Reads the column `header` as if it were called `name`: a name of the template or of a tool,
    /// with its unit, such as `ttft_p50_ms`. A column without a name is called `column 3`.
    ///
    /// # Errors
    /// Why `name` says nothing, or nothing that `header` can be.
    pub fn rename(&mut self, name: &str, header: &str) -> Result<(), String> {
        let (mut name, header) = (name.trim().to_owned(), header.trim().to_owned());
        let found = normalised(&header);
        // The unit may stand in the file's name alone.
        if let Meaning::Ask(_) = meaning(&name) {
            let mut with_unit = splits(&found).map(|(_, unit, _)| format!("{name}_{unit}"));
            let known = with_unit.find(|name| matches!(meaning(name), Meaning::Known { .. }));
            name = known.unwrap_or(name);
        }
        match meaning(&name) {
            Meaning::Known { .. } => {}
            Meaning::Ask(question) | Meaning::WrongUnit(question) => return Err(question),
            Meaning::Unknown => {
                return Err(format!(
                    "no column is known as \"{name}\": name it as the template does, \
                     ttft_p50_ms or output_tps"
                ));
            }
        }
        let named = normalised(&name);
        if let Some((.., unit)) = splits(&named).next()
            && splits(&found).next().is_some()
            && splits(&found).all(|(.., own)| own != unit)
        {
            return Err(format!(
                "column \"{header}\" has a unit in its name, and \"{name}\" says another"
            ));
        }
        if self.renamed.iter().any(|known| known.header == header || known.name == name) {
            return Err(format!("\"{name}\" or \"{header}\" is given twice"));
        }
        self.renamed.push(Renamed { name, header });
        Ok(())
    }

    /// The name under which a column is read; `place` counts from 0.
    pub(super) fn name_of<'a>(&'a self, header: &'a str, place: usize) -> &'a str {
        let unnamed = header.is_empty().then(|| format!("column {}", place + 1));
        let own = unnamed.as_deref().unwrap_or(header);
        let renamed = self.renamed.iter().find(|renamed| renamed.header == own);
        renamed.map_or(header, |renamed| renamed.name.as_str())
    }

    /// Columns that were to be read and are none of these.
    pub(super) fn not_among<'a>(&'a self, names: &'a [String]) -> impl Iterator<Item = &'a str> {
        let renamed = self.renamed.iter();
        renamed.filter(|renamed| !names.contains(&renamed.name)).map(|r| r.header.as_str())
    }
}
