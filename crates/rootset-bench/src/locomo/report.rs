//! The table for people: ours beside the baselines of the same file and the figures that are wanted.

use crate::answers::metrics::{Means, Summary};
use crate::table;

const HEADER: [&str; 6] = ["", "R@5", "R@10", "R@20", "nDCG@10", "questions"];
/// R@5, R@10, R@20 and nDCG@10, without any model.
const WANTED: [f64; 4] = [0.62, 0.70, 0.77, 0.53];

pub fn text(rootset: &Summary, bm25: &Summary, bm25_lent: &Summary) -> String {
    let mut rows = vec![
        row("BM25, stop words and stemming", &bm25.overall),
        row("the same + ¼ of the better neighbour", &bm25_lent.overall),
        row("rootset", &rootset.overall),
        cells("wanted, no model", WANTED.map(|it| format!("{it:.3}")), String::new()),
        cells("", verdicts(&rootset.overall), String::new()),
    ];
    rows.extend(rootset.by_category.iter().map(|(name, means)| row(&format!("rootset, {name}"), means)));
    table::aligned(&HEADER, &rows)
}

fn figures(means: &Means) -> [f64; 4] {
    [means.r_at_5, means.r_at_10, means.r_at_20, means.ndcg_at_10]
}

fn row(name: &str, means: &Means) -> Vec<String> {
    cells(name, figures(means).map(|it| format!("{it:.3}")), means.questions.to_string())
}

fn verdicts(means: &Means) -> [String; 4] {
    let measured = figures(means);
    std::array::from_fn(|place| if measured[place] >= WANTED[place] { "ok".into() } else { "MISSED".into() })
}

fn cells(name: &str, figures: [String; 4], questions: String) -> Vec<String> {
    let mut cells = vec![name.to_owned()];
    cells.extend(figures);
    cells.push(questions);
    cells
}
