//! What a benchmark prints: its report as JSON, or as text for people.

use serde::Serialize;

pub fn print_report(report: &impl Serialize, as_json: bool, text: impl FnOnce() -> String) -> anyhow::Result<()> {
    if as_json {
        println!("{}", serde_json::to_string_pretty(report)?);
    } else {
        println!("{}", text());
    }
    Ok(())
}

/// For people; not every system tells how much memory a process had.
pub fn mebibytes(kib: Option<u64>) -> String {
    kib.map_or_else(|| "not known on this system".to_owned(), |kib| format!("{:.1} MiB", kib as f64 / 1_024.0))
}
