//! The table for people: one per file or folder.

use super::{Measured, Row};
use crate::table;

const HEADER: [&str; 9] =
    ["", "R@5", "R@10", "R@20", "nDCG@10", "questions", "newer first", "silent rightly", "silent wrongly"];

pub fn text(measured: &[Measured]) -> String {
    let tables: Vec<String> = measured.iter().map(of_one).collect();
    tables.join("\n")
}

fn of_one(measured: &Measured) -> String {
    let rows: Vec<Vec<String>> = measured.rows.iter().map(cells).collect();
    format!("{}: {} conversations\n{}", measured.data, measured.conversations, table::aligned(&HEADER, &rows))
}

fn cells(row: &Row) -> Vec<String> {
    let means = &row.means;
    let figures = [means.r_at_5, means.r_at_10, means.r_at_20, means.ndcg_at_10].map(|it| format!("{it:.3}"));
    let newer = if row.updates == 0 { String::new() } else { format!("{} of {}", row.newer_first, row.updates) };
    let mut cells = vec![row.name.to_owned()];
    cells.extend(figures);
    cells.extend([means.questions.to_string(), newer]);
    cells.extend(row.silence.map_or_else(Default::default, |it| {
        [(it.silent_on_unanswerable, it.unanswerable), (it.silent_on_answerable, it.answerable)]
            .map(|(silent, asked)| format!("{silent} of {asked}"))
    }));
    cells
}
