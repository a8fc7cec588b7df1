//! A heat map: outcomes by two things a request is, one cell for each pair.

use plotters_backend::DrawingBackend;

use super::palette::Look;
use super::pattern;
use super::surface::{Drawn, Label, Px, Rect, Stroke, Surface};
use super::table::{Cell, Column, Table};
use crate::format;

/// Above the cells: what they say, and what the columns are.
const TOP: f64 = 24.0;
/// Below them: the columns' labels.
const BOTTOM: f64 = 24.0;
/// About the width of a character of a label, CSS pixels.
const CHARACTER: f64 = 6.2;

/// Requests of a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HeatCell {
    /// All of them; at least one.
    pub offered: u64,
    /// The good ones.
    pub good: u64,
}

impl HeatCell {
    /// Those that are not good.
    pub fn lost(self) -> u64 {
        self.offered.saturating_sub(self.good)
    }

    /// good ÷ offered.
    pub fn attainment(self) -> f64 {
        self.good as f64 / self.offered.max(1) as f64
    }
}

/// Outcomes by two things crossed.
#[derive(Debug, Clone, PartialEq)]
pub struct HeatMapChart {
    /// What rows are, and what columns are.
    pub names: [&'static str; 2],
    /// Labels of the rows, from the top.
    pub rows: Vec<String>,
    /// Labels of the columns, from the left.
    pub columns: Vec<String>,
    /// Row by row; nothing where nobody asked.
    pub cells: Vec<Option<HeatCell>>,
    /// Share of offered requests that must be good.
    pub target: f64,
    /// Shows how many are lost, not which share is good.
    pub counts: bool,
    /// Index of the cell that is read out.
    pub at: Option<usize>,
}

impl HeatMapChart {
    /// Height that shows every row, CSS pixels.
    pub fn height(&self) -> f64 {
        TOP + BOTTOM + self.rows.len() as f64 * self.row_height()
    }

    fn row_height(&self) -> f64 {
        (420.0 / self.rows.len().max(1) as f64).clamp(14.0, 28.0)
    }

    /// The index of the cell under a point of a chart of this width; where nobody asked there is
    /// none.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "indices of cells are small, and not negative once checked"
    )]
    pub fn cell_at(&self, (x, y): Px, width: f64) -> Option<usize> {
        let plot = self.plot(width);
        let column = (x - plot.left) / (plot.width() / self.columns.len().max(1) as f64);
        let row = (y - plot.top) / self.row_height();
        let inside = (0.0..self.columns.len() as f64).contains(&column)
            && (0.0..self.rows.len() as f64).contains(&row);
        let index = inside.then(|| row as usize * self.columns.len() + column as usize)?;
        self.cells.get(index)?.map(|_| index)
    }

    fn plot(&self, width: f64) -> Rect {
        let longest = self.rows.iter().map(|label| label.chars().count()).max().unwrap_or(0);
        let left = (longest as f64 * CHARACTER + 10.0).min(width * 0.4);
        Rect { left, top: TOP, right: width - 1.0, bottom: self.height() - BOTTOM }
    }

    fn cell_rect(&self, index: usize, plot: &Rect) -> Rect {
        let columns = self.columns.len().max(1);
        let (row, column) = (index / columns, index % columns);
        let (width, height) = (plot.width() / columns as f64, self.row_height());
        let (left, top) = (plot.left + column as f64 * width, plot.top + row as f64 * height);
        Rect { left, top, right: left + width - 1.0, bottom: top + height - 1.0 }
    }

    /// Draws it.
    pub fn draw<DB: DrawingBackend>(&self, surface: &Surface<DB>) -> Drawn<DB> {
        let palette = surface.palette;
        let plot = self.plot(surface.width);
        let says = if self.counts { "requests lost" } else { "good, %" };
        let head = format!("{says}: {} down, {} across", self.names[0], self.names[1]);
        surface.label(&Label::new(&head, (0.0, 8.0), palette.ink_2))?;
        for (i, label) in self.rows.iter().enumerate() {
            let middle = plot.top + (i as f64 + 0.5) * self.row_height();
            let label = shortened(surface, label, plot.left - 8.0);
            surface
                .label(&Label::new(&label, (plot.left - 6.0, middle), palette.ink_3).ending())?;
        }
        self.draw_columns(surface, &plot)?;
        let most = self.cells.iter().flatten().map(|cell| cell.lost()).max().unwrap_or(0);
        let numbered = self.has_room_for_numbers(surface, &self.cell_rect(0, &plot));
        for (i, cell) in self.cells.iter().enumerate() {
            if let Some(cell) = cell {
                self.draw_cell(surface, &self.cell_rect(i, &plot), *cell, (most, numbered))?;
            }
        }
        match self.at.filter(|at| *at < self.cells.len()) {
            Some(at) => {
                surface.outline(&self.cell_rect(at, &plot), Stroke::solid(palette.ink, 2.0))
            }
            None => Ok(()),
        }
    }

    /// Labels below the columns; those that would touch are left out.
    fn draw_columns<DB: DrawingBackend>(&self, surface: &Surface<DB>, plot: &Rect) -> Drawn<DB> {
        let width = plot.width() / self.columns.len().max(1) as f64;
        let mut free_from = plot.left - width;
        for (i, label) in self.columns.iter().enumerate() {
            let half = surface.text_width(label, false) / 2.0;
            let low = half;
            let high = (surface.width - half).max(low);
            let x = (plot.left + (i as f64 + 0.5) * width).clamp(low, high);
            if x - half < free_from {
                continue;
            }
            free_from = x + half + 8.0;
            let at = (x, plot.bottom + 11.0);
            surface.label(&Label::new(label, at, surface.palette.ink_3).centred())?;
        }
        Ok(())
    }

    fn number(&self, cell: &HeatCell) -> String {
        if self.counts { format::short(cell.lost() as f64) } else { percent_of(cell.attainment()) }
    }

    /// Whether every number fits its cell: a map of some would look as if the rest had none.
    fn has_room_for_numbers<DB: DrawingBackend>(&self, surface: &Surface<DB>, cell: &Rect) -> bool {
        let width = |cell: &HeatCell| surface.text_width(&self.number(cell), true) + 4.0;
        let widest = self.cells.iter().flatten().map(width).fold(0.0, f64::max);
        widest <= cell.width() && cell.bottom - cell.top >= 13.0
    }

    /// The more of it is lost the redder; a cell that meets the target has the colour of good
    /// requests, and one that does not and has no room for its number is hatched.
    fn draw_cell<DB: DrawingBackend>(
        &self,
        surface: &Surface<DB>,
        rect: &Rect,
        cell: HeatCell,
        (most, numbered): (u64, bool),
    ) -> Drawn<DB> {
        let palette = surface.palette;
        let holds = cell.attainment() >= self.target;
        let depth = if self.counts {
            cell.lost() as f64 / most.max(1) as f64
        } else {
            1.0 - cell.attainment()
        };
        let corners = rect.corners();
        match Look::Good.fill(palette).filter(|_| holds) {
            Some(good) => surface.polygon(&corners, good, 0.22)?,
            None => surface.polygon(&corners, palette.excess, 0.1 + 0.6 * depth)?,
        }
        if numbered {
            let text = self.number(&cell);
            let centre =
                (f64::midpoint(rect.left, rect.right), f64::midpoint(rect.top, rect.bottom));
            let label = Label::new(&text, centre, palette.ink).centred();
            return surface.label(&if holds { label } else { label.strong().halo() });
        }
        if holds { Ok(()) } else { pattern::excess(surface, &corners) }
    }

    /// The numbers behind it.
    pub fn table(&self) -> Table {
        let columns = self.columns.len().max(1);
        let rows = self.cells.iter().enumerate().filter_map(|(i, cell)| {
            let cell = (*cell)?;
            let label = |labels: &[String], at: usize| {
                Cell::Text(labels.get(at).cloned().unwrap_or_default())
            };
            Some(vec![
                label(&self.rows, i / columns),
                label(&self.columns, i % columns),
                Cell::Count(cell.offered),
                Cell::Count(cell.good),
                Cell::Count(cell.lost()),
                Cell::Number(100.0 * cell.attainment()),
            ])
        });
        let [row, column] = self.names;
        Table {
            columns: vec![
                Column::new(row, ""),
                Column::new(column, ""),
                Column::new("offered", ""),
                Column::new("good", ""),
                Column::new("lost", ""),
                Column::new("good", "%"),
            ],
            rows: rows.collect(),
        }
    }
}

/// Per cent without its sign, for a cell: whole where it is not close to everybody.
fn percent_of(share: f64) -> String {
    // Not everybody is not 100.
    let decimals = usize::from(share < 1.0 && share > 0.985);
    format::fixed(if share < 1.0 { (share * 100.0).min(99.9) } else { 100.0 }, decimals)
}

/// A label cut to a width, with an ellipsis.
fn shortened<DB: DrawingBackend>(surface: &Surface<DB>, label: &str, width: f64) -> String {
    if surface.text_width(label, false) <= width {
        return label.to_owned();
    }
    let letters: Vec<char> = label.chars().collect();
    let cut = |n: usize| letters[..n].iter().chain(['…'].iter()).collect::<String>();
    let fits = |n: &usize| surface.text_width(&cut(*n), false) <= width;
    cut((0..letters.len()).rev().find(fits).unwrap_or(0))
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub fn sample() -> HeatMapChart {
        let cell = |offered, good| Some(HeatCell { offered, good });
        HeatMapChart {
            names: ["prompt", "output"],
            rows: vec!["65–128".into(), "129–256".into()],
            columns: vec!["1–64".into(), "65–128".into(), "129–256".into()],
            cells: vec![cell(100, 100), cell(1_000, 964), None, cell(50, 10), None, cell(1, 0)],
            target: 0.95,
            counts: false,
            at: Some(3),
        }
    }

    #[test]
    fn a_point_is_in_the_cell_drawn_there_and_only_where_somebody_asked() {
        let chart = sample();
        for width in [300.0, 900.0] {
            let plot = chart.plot(width);
            for (index, cell) in chart.cells.iter().enumerate() {
                let rect = chart.cell_rect(index, &plot);
                let middle =
                    (f64::midpoint(rect.left, rect.right), f64::midpoint(rect.top, rect.bottom));
                assert_eq!(chart.cell_at(middle, width), cell.map(|_| index), "{index} at {width}");
            }
            assert_eq!(chart.cell_at((0.0, 40.0), width), None);
            assert_eq!(chart.cell_at((width + 5.0, 40.0), width), None);
            assert_eq!(chart.cell_at((f64::NAN, 40.0), width), None);
        }
    }

    #[test]
    fn almost_everybody_is_not_everybody() {
        for (share, text) in
            [(1.0, "100"), (0.9999, "99.9"), (0.991, "99.1"), (0.964, "96"), (0.0, "0")]
        {
            assert_eq!(percent_of(share), text, "{share}");
        }
    }

    #[test]
    fn the_table_has_every_cell_and_sums_to_the_map() {
        let table = sample().table();
        assert_eq!(table.rows.len(), 4);
        let csv = table.csv();
        assert!(csv.starts_with("prompt,output,offered,good,lost,\"good, %\"\r\n"), "{csv}");
        assert!(csv.contains("129–256,1–64,50,10,40,20\r\n"), "{csv}");
    }
}
