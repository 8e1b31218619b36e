//! Aligned tables without lines, for terminals and for pasting.

const GAP: &str = "  ";

/// The first column is text, on the left; the others are figures, on the right.
pub fn aligned(header: &[&str], rows: &[Vec<String>]) -> String {
    let header: Vec<String> = header.iter().map(|name| (*name).to_owned()).collect();
    let rows: Vec<&Vec<String>> = std::iter::once(&header).chain(rows).collect();
    let width = |column: usize| rows.iter().filter_map(|row| row.get(column)).map(|it| it.chars().count()).max();
    let widths: Vec<usize> = (0..header.len()).map(|column| width(column).unwrap_or(0)).collect();
    let lines: Vec<String> = rows.iter().map(|row| line(row, &widths)).collect();
    lines.join("\n")
}

fn line(row: &[String], widths: &[usize]) -> String {
    let cells: Vec<String> = row
        .iter()
        .zip(widths)
        .enumerate()
        .map(|(column, (cell, &width))| if column == 0 { format!("{cell:<width$}") } else { format!("{cell:>width$}") })
        .collect();
    cells.join(GAP).trim_end().to_owned()
}
