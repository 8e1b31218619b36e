//! Why a text is not JSON, in our own words. The library's messages quote the text and speak of its parser.

use serde_json::Error;
use serde_json::error::Category;

/// What is wrong with a text and where: `is not JSON, at line 2, column 5`. The caller names the text before it.
pub fn fault(error: &Error) -> String {
    format!("{}, at line {}, column {}", what(error), error.line(), error.column())
}

/// The same for a text that is one line of many, which the caller counts.
pub fn fault_in_line(error: &Error) -> String {
    format!("{}, at column {}", what(error), error.column())
}

fn what(error: &Error) -> &'static str {
    match error.classify() {
        Category::Eof => "ends too early",
        // The library has no category for it.
        Category::Syntax if error.to_string().starts_with("recursion limit") => "nests too deep",
        Category::Syntax | Category::Data | Category::Io => "is not JSON",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[test]
    fn a_fault_names_its_kind_and_place_and_quotes_nothing() {
        let faults = |text: &str| {
            let error = serde_json::from_str::<Value>(text).unwrap_err();
            (fault(&error), fault_in_line(&error))
        };
        let both =
            |what: &str, place: &str, column: &str| (format!("{what}, at {place}"), format!("{what}, at {column}"));
        assert_eq!(faults("{\n secret}"), both("is not JSON", "line 2, column 2", "column 2"));
        assert_eq!(faults("[1, 2"), both("ends too early", "line 1, column 5", "column 5"));
        assert_eq!(faults(&"[".repeat(200)), both("nests too deep", "line 1, column 128", "column 128"));
    }
}
