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
