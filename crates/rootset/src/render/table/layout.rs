//! How wide each column is: the first of a few stages, from generous to narrow, in which every line fits. Pure.

use super::{Column, GAP, Kind, Table, Times, bold, cut, time_shown, width_of};

/// Shorter prefixes of ids made in the same minute are the same.
const ID_CHARS_MIN: usize = 13;

/// How far columns may give way.
#[derive(Clone, Copy, Debug)]
struct Stage {
    text_min: usize,
    name_min: usize,
    times: Times,
    leaves_out_spares: bool,
}

const UNCUT: usize = usize::MAX;
const STAGES: [Stage; 7] = [
    Stage { text_min: 40, name_min: UNCUT, times: Times::Full, leaves_out_spares: false },
    Stage { text_min: 30, name_min: UNCUT, times: Times::Minutes, leaves_out_spares: false },
    Stage { text_min: 30, name_min: 30, times: Times::Minutes, leaves_out_spares: false },
    Stage { text_min: 20, name_min: 20, times: Times::Ages, leaves_out_spares: false },
    Stage { text_min: 16, name_min: 14, times: Times::Ages, leaves_out_spares: false },
    Stage { text_min: 16, name_min: 12, times: Times::Ages, leaves_out_spares: true },
    Stage { text_min: 6, name_min: 6, times: Times::Ages, leaves_out_spares: true },
];

/// Which columns are shown, in which width, and their cells before they are cut.
#[derive(Debug)]
pub struct Layout {
    /// Headings stand out on a terminal.
    has_styles: bool,
    shown: Vec<(usize, usize)>,
    cells: Vec<Vec<String>>,
}

impl Layout {
    pub fn natural(table: &Table) -> Self {
        let cells = prepared(table, Times::Full, false);
        let shown = natural_widths(table, &cells).into_iter().enumerate().collect();
        Self { has_styles: false, shown, cells }
    }

    pub fn written(&self, table: &Table) -> String {
        let mut lines = vec![line(self.shown.iter().map(|(place, width)| {
            let heading = table.columns[*place].heading;
            let text = if self.has_styles { bold(heading) } else { heading.to_owned() };
            (text, width_of(heading), *width)
        }))];
        for row in &self.cells {
            let cells: Vec<Vec<String>> =
                self.shown.iter().map(|(place, width)| fitted(&row[*place], table.columns[*place], *width)).collect();
            let height = cells.iter().map(Vec::len).max().unwrap_or(0).max(1);
            for place in 0..height {
                lines.push(line(cells.iter().zip(&self.shown).map(|(cell, (_, width))| {
                    let text = cell.get(place).cloned().unwrap_or_default();
                    let taken = width_of(&text);
                    (text, taken, *width)
                })));
            }
        }
        lines.concat()
    }
}

/// Each cell with its width, which the codes of its style are no part of, and with that of its column.
fn line(cells: impl Iterator<Item = (String, usize, usize)>) -> String {
    let mut line = String::new();
    let mut owed = 0;
    for (text, taken, width) in cells {
        // Blanks are written once something follows them: no line ends in one.
        if taken > 0 {
            line.extend(std::iter::repeat_n(' ', owed));
            line.push_str(&text);
            owed = 0;
        }
        owed += (width + GAP).saturating_sub(taken);
    }
    line + "\n"
}

fn fitted(cell: &str, column: Column, width: usize) -> Vec<String> {
    match column.kind {
        Kind::Name => vec![cut::in_the_middle(cell, width)],
        Kind::Text => vec![cut::at_the_end(cell, width)],
        Kind::Whole => cut::into_lines(cell, width),
        Kind::Fixed | Kind::Id | Kind::Time | Kind::Until => vec![cell.to_owned()],
    }
}

pub fn fitting(table: &Table, width: usize) -> Layout {
    for stage in STAGES {
        let cells = prepared(table, stage.times, true);
        let natural = natural_widths(table, &cells);
        let mut shown: Vec<(usize, usize)> = natural.into_iter().enumerate().collect();
        loop {
            if let Some(shown) = narrowed(table, &cells, shown.clone(), stage, width) {
                return Layout { has_styles: true, shown, cells };
            }
            let spare = shown.iter().rposition(|(place, _)| table.columns[*place].is_spare);
            match spare.filter(|_| stage.leaves_out_spares) {
                Some(spare) => drop(shown.remove(spare)),
                None => break,
            }
        }
    }
    // Words that nobody may cut are wider than the terminal, which wraps them.
    Layout::natural(table)
}

/// The widest column that may give way does, until the line fits.
fn narrowed(
    table: &Table,
    cells: &[Vec<String>],
    mut shown: Vec<(usize, usize)>,
    stage: Stage,
    width: usize,
) -> Option<Vec<(usize, usize)>> {
    let least = |place: usize| {
        let column = table.columns[place];
        let least = match column.kind {
            Kind::Text => stage.text_min,
            Kind::Whole => stage.text_min.max(longest_piece(cells.iter().map(|row| row[place].as_str()))),
            Kind::Name => stage.name_min,
            Kind::Fixed | Kind::Id | Kind::Time | Kind::Until => UNCUT,
        };
        least.max(width_of(column.heading))
    };
    let gaps = GAP * shown.len().saturating_sub(1);
    while shown.iter().map(|(_, width)| width).sum::<usize>() + gaps > width {
        let yielding = shown.iter_mut().filter(|(place, width)| *width > least(*place));
        let (_, widest) = yielding.max_by_key(|(_, width)| *width)?;
        *widest -= 1;
    }
    Some(shown)
}

/// What is not broken: words, up to a length that leaves room for other columns.
fn longest_piece<'a>(cells: impl Iterator<Item = &'a str>) -> usize {
    const CHARS_MAX: usize = 16;
    let pieces = cells.flat_map(|cell| cell.split_inclusive(cut::BREAKS));
    pieces.map(|piece| width_of(piece.trim_end())).max().unwrap_or(0).min(CHARS_MAX)
}

fn natural_widths(table: &Table, cells: &[Vec<String>]) -> Vec<usize> {
    let width = |(place, column): (usize, &Column)| {
        let cells = cells.iter().map(|row| width_of(&row[place])).max().unwrap_or(0);
        cells.max(width_of(column.heading))
    };
    table.columns.iter().enumerate().map(width).collect()
}

/// The cells with times and ids as they are shown.
fn prepared(table: &Table, times: Times, is_terminal: bool) -> Vec<Vec<String>> {
    let mut cells = table.rows.clone();
    for (place, column) in table.columns.iter().enumerate() {
        match column.kind {
            Kind::Time | Kind::Until => {
                cells.iter_mut().for_each(|row| row[place] = time_shown(&row[place], column.kind, times));
            }
            Kind::Id if is_terminal => {
                let length = telling_apart(table.rows.iter().map(|row| row[place].as_str()));
                cells.iter_mut().for_each(|row| row[place] = row[place].chars().take(length).collect());
            }
            Kind::Whole if is_terminal => cells.iter_mut().for_each(|row| row[place] = with_short_ids(&row[place])),
            Kind::Id | Kind::Fixed | Kind::Name | Kind::Text | Kind::Whole => {}
        }
    }
    cells
}

/// Commands that name a run take the beginning of its id, too.
fn with_short_ids(text: &str) -> String {
    const ID_CHARS: usize = 36;
    let is_id = |word: &str| word.len() == ID_CHARS && word.chars().all(|it| it.is_ascii_hexdigit() || it == '-');
    let shown = |word| if is_id(word) { &word[..ID_CHARS_MIN] } else { word };
    text.split(' ').map(shown).collect::<Vec<_>>().join(" ")
}

/// The shortest length at which different ids stay different.
fn telling_apart<'a>(ids: impl Iterator<Item = &'a str>) -> usize {
    let mut ids: Vec<&str> = ids.collect();
    ids.sort_unstable();
    ids.dedup();
    let shared = |pair: &[&str]| pair[0].chars().zip(pair[1].chars()).take_while(|(a, b)| a == b).count();
    ids.windows(2).map(shared).max().map_or(ID_CHARS_MIN, |most| (most + 1).max(ID_CHARS_MIN))
}
