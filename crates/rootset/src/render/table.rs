//! Tables: a row is a line. On a terminal the last column gives way, so that names and ids can be copied whole.

use comfy_table::{Attribute, Cell, ContentArrangement, presets};

use super::one_line;

/// The last column is not cut below this, however narrow the terminal: it then wraps like any long line.
const LAST_COLUMN_CHARS_MIN: usize = 26;
/// Blanks between columns.
const GAP: u16 = 2;

pub struct Table {
    headings: Vec<&'static str>,
    rows: Vec<Vec<String>>,
    is_cut: bool,
}

impl Table {
    pub fn new(headings: impl IntoIterator<Item = &'static str>) -> Self {
        Self { headings: headings.into_iter().collect(), rows: Vec::new(), is_cut: true }
    }

    /// For tables whose every word counts.
    pub fn uncut(self) -> Self {
        Self { is_cut: false, ..self }
    }

    /// The cells must be single lines without control characters.
    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }

    pub fn finish(mut self) -> String {
        // Known on a terminal only; a pipe has no width.
        if let Some(width) = self.arranged().width().filter(|_| self.is_cut) {
            self.cut_last_column(usize::from(width));
        }
        self.arranged().lines().map(|line| format!("{}\n", line.trim_end())).collect()
    }

    fn cut_last_column(&mut self, width: usize) {
        let mut widths = self.arranged().column_max_content_widths();
        widths.pop();
        let taken: usize = widths.iter().map(|width| usize::from(width + GAP)).sum();
        let left = width.saturating_sub(taken).max(LAST_COLUMN_CHARS_MIN);
        for cell in self.rows.iter_mut().filter_map(|row| row.last_mut()) {
            *cell = one_line(cell, left);
        }
    }

    fn arranged(&self) -> comfy_table::Table {
        let mut table = comfy_table::Table::new();
        table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
        table.style_text_only();
        table.set_header(self.headings.iter().map(|heading| Cell::new(heading).add_attribute(Attribute::Bold)));
        table.add_rows(self.rows.iter().cloned());
        let last = self.headings.len().saturating_sub(1);
        for (place, column) in table.column_iter_mut().enumerate() {
            column.set_padding((0, if place == last { 0 } else { GAP }));
        }
        table
    }
}
