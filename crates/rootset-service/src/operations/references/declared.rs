//! The line in which a symbol is declared: a symbol begins with the comment above it, and a person looks for its name.
//!
//! Lines are not stored beside symbols, so the stored text of the files on one page of an answer is looked at.

use std::collections::BTreeMap;

use rootset_api::{ReferenceKind, ReferenceResult};
use rootset_store::{SymbolRow, Workspace};

use crate::error::ServiceError;
use crate::service::Service;

/// As much of a signature as tells its line from comments.
const BEGINNING_CHARS: usize = 24;

/// Brings the lines of results that name a symbol as a whole to where its name is.
pub fn to_declarations(
    results: &mut [ReferenceResult],
    service: &Service,
    workspace: &Workspace,
) -> Result<(), ServiceError> {
    let is_symbol = |it: &ReferenceResult| {
        matches!(it.kind, ReferenceKind::Bases | ReferenceKind::Overrides | ReferenceKind::Types)
    };
    let last = |it: &ReferenceResult| {
        rootset_code::name_parts(&it.qualified_name).last().map(|name| (*name).to_owned()).unwrap_or_default()
    };
    let mut names: Vec<String> = results.iter().filter(|it| is_symbol(it)).map(last).collect();
    names.sort_unstable();
    names.dedup();
    if names.is_empty() {
        return Ok(());
    }
    let now = service.now();
    let rows = service.store.symbols_named(workspace, &names, None, now)?;
    let is_of = |row: &SymbolRow, it: &ReferenceResult| {
        (row.first_line, &row.qualified_name, &row.path, &row.repo)
            == (it.line, &it.qualified_name, &it.file_path, &it.repo)
    };
    let mut shown: Vec<(&mut ReferenceResult, SymbolRow)> = Vec::new();
    for it in results.iter_mut().filter(|it| is_symbol(it)) {
        if let Some(row) = rows.iter().find(|row| is_of(row, it)) {
            shown.push((it, row.clone()));
        }
    }
    let mut memories: Vec<_> = shown.iter().map(|(_, row)| row.memory).collect();
    memories.sort_unstable();
    memories.dedup();
    let texts: BTreeMap<_, _> = service.store.file_texts(workspace, &memories, now)?.into_iter().collect();
    for (it, row) in shown {
        let text = texts.get(&row.memory).and_then(|text| text.get(row.start..row.start + row.length));
        it.line += text.map_or(0, |text| lines_above(text, &row.signature));
    }
    Ok(())
}

/// Lines of a symbol's text before its signature.
fn lines_above(text: &str, signature: &str) -> i64 {
    let beginning: String = signature.lines().next().unwrap_or_default().chars().take(BEGINNING_CHARS).collect();
    let found =
        text.lines().position(|line| !beginning.is_empty() && line.trim_start().starts_with(beginning.trim_end()));
    found.unwrap_or_default() as i64
}

#[cfg(test)]
mod tests {
    use super::lines_above;

    #[test]
    fn comments_above_a_declaration_are_skipped() {
        let text = "// Match matches.\n// type Match is a comment.\ntype Match struct {\n}\n";
        assert_eq!(lines_above(text, "type Match struct"), 2);
        assert_eq!(lines_above("class A:\n    pass\n", "class A:"), 0);
        assert_eq!((lines_above("x", ""), lines_above("a\nb", "c")), (0, 0));
    }
}
