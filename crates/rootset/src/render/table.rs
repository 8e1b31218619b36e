//! Tables: a row is a line, and no line is wider than the terminal. What the columns hold decides how they give way: ids
//! become prefixes, times become ages, texts end in an ellipsis, names lose their middle. A pipe has no width: there
//! every cell is whole.

mod cut;
mod layout;
#[cfg(test)]
mod tests;

use unicode_width::UnicodeWidthStr;

use super::styles::bold;
use super::time::{age, short, with_age};
use layout::Layout;

/// Blanks between columns.
const GAP: usize = 2;
/// Narrower terminals get the lines of this one and wrap them.
const WIDTH_MIN: usize = 60;

/// What the cells of a column are, which says how they become shorter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Numbers and words of ours: never cut.
    Fixed,
    /// Ids: on a terminal the shortest prefix that tells them apart.
    Id,
    /// Names and paths: cut in the middle, because both ends tell them apart.
    Name,
    /// Sentences: cut at the end, between two words.
    Text,
    /// Texts that are read to the end: broken between words into more lines.
    Whole,
    /// Times in the past.
    Time,
    /// Times ahead.
    Until,
}

#[derive(Clone, Copy, Debug)]
pub struct Column {
    heading: &'static str,
    kind: Kind,
    is_spare: bool,
}

impl Column {
    pub const fn fixed(heading: &'static str) -> Self {
        Self::of(heading, Kind::Fixed)
    }

    pub const fn id(heading: &'static str) -> Self {
        Self::of(heading, Kind::Id)
    }

    pub const fn name(heading: &'static str) -> Self {
        Self::of(heading, Kind::Name)
    }

    pub const fn text(heading: &'static str) -> Self {
        Self::of(heading, Kind::Text)
    }

    pub const fn whole(heading: &'static str) -> Self {
        Self::of(heading, Kind::Whole)
    }

    /// Its cells are times as the API writes them, or words such as `never`.
    pub const fn time(heading: &'static str) -> Self {
        Self::of(heading, Kind::Time)
    }

    /// The same, shown with how long it is until then.
    pub const fn until(heading: &'static str) -> Self {
        Self::of(heading, Kind::Until)
    }

    /// Left out where it is empty in every row, and where there is no room for it.
    pub const fn spare(self) -> Self {
        Self { is_spare: true, ..self }
    }

    const fn of(heading: &'static str, kind: Kind) -> Self {
        Self { heading, kind, is_spare: false }
    }
}

#[derive(Debug)]
pub struct Table {
    columns: Vec<Column>,
    rows: Vec<Vec<String>>,
}

impl Table {
    pub fn new(columns: impl IntoIterator<Item = Column>) -> Self {
        Self { columns: columns.into_iter().collect(), rows: Vec::new() }
    }

    /// The cells must be single lines without control characters.
    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        let cells: Vec<String> = cells.into_iter().collect();
        assert_eq!(cells.len(), self.columns.len(), "a row has a cell for each column");
        self.rows.push(cells);
    }

    /// For the terminal there is, or for a pipe.
    pub fn finish(self) -> String {
        self.for_width(terminal_width())
    }

    fn for_width(mut self, width: Option<usize>) -> String {
        self.leave_out(|table, place| {
            table.columns[place].is_spare && table.rows.iter().all(|row| row[place].is_empty())
        });
        let layout = match width {
            Some(width) => layout::fitting(&self, width.max(WIDTH_MIN)),
            None => Layout::natural(&self),
        };
        layout.written(&self)
    }

    fn leave_out(&mut self, is_out: impl Fn(&Self, usize) -> bool) {
        let out: Vec<bool> = (0..self.columns.len()).map(|place| is_out(self, place)).collect();
        let mut places = out.iter();
        self.columns.retain(|_| places.next() == Some(&false));
        for row in &mut self.rows {
            let mut places = out.iter();
            row.retain(|_| places.next() == Some(&false));
        }
    }
}

/// `COLUMNS` is for those who know better: a pipe into a pager, a test.
fn terminal_width() -> Option<usize> {
    let said = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    said.or_else(|| terminal_size::terminal_size_of(std::io::stdout()).map(|(width, _)| usize::from(width.0)))
}

/// How much is left of times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Times {
    Full,
    Minutes,
    Ages,
}

fn time_shown(cell: &str, kind: Kind, times: Times) -> String {
    let aged = |otherwise: String| match age(cell) {
        age if age.is_empty() => otherwise,
        age => age,
    };
    match (kind, times) {
        (Kind::Until, Times::Full) => with_age(cell),
        (_, Times::Ages) => aged(short(cell)),
        _ => short(cell),
    }
}

fn width_of(text: &str) -> usize {
    text.width()
}
