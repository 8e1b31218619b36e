//! Which file, and which of its lines, a call of a well-known file tool or its result is about. When in doubt: none.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::blocks::text_at;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FileView {
    pub path: String,
    pub lines: Option<(u32, u32)>,
}

/// What the calls of a list were about, for their results.
#[derive(Debug, Default)]
pub(crate) struct Calls(BTreeMap<String, FileView>);

impl Calls {
    /// Remembers a call by its id and answers what it is about.
    pub fn note(&mut self, id: &str, name: &str, input: &Value) -> Option<FileView> {
        let view = view_of_call(name, input)?;
        self.0.insert(id.to_owned(), view.clone());
        Some(view)
    }

    /// What a result shows: the lines it numbers itself, else those that were asked for.
    pub fn shown_by(&self, id: &str, text: &str) -> Option<FileView> {
        let asked = self.0.get(id)?;
        Some(FileView { path: asked.path.clone(), lines: numbered_lines(text).or(asked.lines) })
    }
}

const TOOLS: [&str; 20] = [
    "read",
    "view",
    "open",
    "cat",
    "edit",
    "multiedit",
    "write",
    "create",
    "notebookread",
    "notebookedit",
    "readfile",
    "viewfile",
    "openfile",
    "editfile",
    "writefile",
    "createfile",
    "strreplace",
    "strreplaceeditor",
    "strreplacebasededittool",
    "insert",
];
const PATH_FIELDS: [&str; 8] =
    ["file_path", "path", "filePath", "notebook_path", "absolute_path", "target_file", "filename", "file"];

fn view_of_call(name: &str, input: &Value) -> Option<FileView> {
    // `mcp__server__read_file` is `read_file` of a server.
    let bare = name.rsplit("__").next().unwrap_or(name);
    let plain: String = bare.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect();
    if !TOOLS.contains(&plain.as_str()) {
        return None;
    }
    let path = PATH_FIELDS.into_iter().find_map(|field| text_at(input, field))?;
    if path.is_empty() || path.contains('\n') {
        return None;
    }
    Some(FileView { path: path.to_owned(), lines: lines_asked_for(input) })
}

fn number(value: Option<&Value>) -> Option<u32> {
    value.and_then(Value::as_u64).and_then(|number| u32::try_from(number).ok())
}

fn lines_asked_for(input: &Value) -> Option<(u32, u32)> {
    let between = |first: Option<u32>, last: Option<u32>| {
        let (first, last) = (first?.max(1), last?);
        (first <= last).then_some((first, last))
    };
    if let Some(range) = input.get("view_range").and_then(Value::as_array) {
        return between(number(range.first()), number(range.get(1)));
    }
    if let Some(last) = number(input.get("end_line")) {
        return between(number(input.get("start_line")), Some(last));
    }
    if let Some(limit) = number(input.get("limit")).filter(|limit| *limit > 0) {
        let first = number(input.get("offset")).unwrap_or(1).max(1);
        return between(Some(first), first.checked_add(limit - 1));
    }
    // What is written whole has all its lines in the call.
    let whole = text_at(input, "content").or_else(|| text_at(input, "file_text"))?;
    u32::try_from(whole.lines().count()).ok().filter(|lines| *lines > 0).map(|last| (1, last))
}

/// First and last number of a text in which at least two lines in a row are numbered like those of `cat -n`.
fn numbered_lines(text: &str) -> Option<(u32, u32)> {
    let mut found: Option<(u32, u32)> = None;
    for number in text.lines().filter_map(line_number) {
        found = match found {
            None => Some((number, number)),
            Some((first, last)) if number == last + 1 => Some((first, number)),
            // Not one stretch of one file.
            Some(_) => return None,
        };
    }
    found.filter(|(first, last)| last > first)
}

fn line_number(line: &str) -> Option<u32> {
    let line = line.trim_start();
    let digits = line.find(|c: char| !c.is_ascii_digit())?;
    let rest = &line[digits..];
    if !(rest.starts_with('\t') || rest.starts_with('→')) {
        return None;
    }
    line[..digits].parse().ok().filter(|number| *number > 0 && *number < u32::MAX)
}

/// What Claude Code notes beside a result: the file as it was read, or the lines that an edit left behind.
pub(crate) fn view_of_note(note: &Value) -> Option<FileView> {
    let file = note.get("file").unwrap_or(note);
    let path = text_at(file, "filePath").filter(|path| !path.is_empty())?;
    let read = || {
        let first = number(file.get("startLine"))?.max(1);
        let lines = number(file.get("numLines")).filter(|lines| *lines > 0)?;
        Some((first, first.checked_add(lines - 1)?))
    };
    let patched = || {
        let hunks = note.get("structuredPatch").and_then(Value::as_array)?;
        let ends = hunks.iter().filter_map(|hunk| {
            let first = number(hunk.get("newStart"))?.max(1);
            Some((first, first.checked_add(number(hunk.get("newLines"))?.max(1) - 1)?))
        });
        ends.reduce(|all, next| (all.0.min(next.0), all.1.max(next.1)))
    };
    Some(FileView { path: path.to_owned(), lines: read().or_else(patched) })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn asked(name: &str, input: Value) -> Option<(String, Option<(u32, u32)>)> {
        view_of_call(name, &input).map(|view| (view.path, view.lines))
    }

    #[test]
    fn file_tools_of_several_harnesses_are_known_by_their_names() {
        let path = || "src/a.rs".to_owned();
        assert_eq!(asked("Read", json!({"file_path": "src/a.rs"})), Some((path(), None)));
        let part = json!({"file_path": "src/a.rs", "offset": 11, "limit": 10});
        assert_eq!(asked("Read", part), Some((path(), Some((11, 20)))));
        let viewed = json!({"command": "view", "path": "src/a.rs", "view_range": [3, 9]});
        assert_eq!(asked("str_replace_based_edit_tool", viewed), Some((path(), Some((3, 9)))));
        assert_eq!(asked("mcp__files__read_file", json!({"path": "src/a.rs"})), Some((path(), None)));
        let written = json!({"file_path": "src/a.rs", "content": "one\ntwo\nthree\n"});
        assert_eq!(asked("Write", written), Some((path(), Some((1, 3)))));
    }

    #[test]
    fn what_is_not_certain_is_left_open() {
        assert_eq!(asked("Bash", json!({"command": "cat -n src/a.rs"})), None);
        assert_eq!(asked("Read", json!({"pattern": "x"})), None);
        let open_end = json!({"path": "a", "view_range": [5, -1]});
        assert_eq!(asked("view", open_end), Some(("a".to_owned(), None)));
        assert_eq!(asked("Read", json!({"path": "a", "offset": 0, "limit": 0})), Some(("a".to_owned(), None)));
    }

    #[test]
    fn numbered_lines_are_believed_when_they_are_one_stretch() {
        assert_eq!(numbered_lines("    41→fn a() {\n    42→}\n\nsome words"), Some((41, 42)));
        assert_eq!(numbered_lines("     1\ta\n     2\tb\n     3\tc"), Some((1, 3)));
        assert_eq!(numbered_lines("1\ta\n2\tb\n9\tc"), None);
        assert_eq!(numbered_lines("2026\tis a year"), None);
        assert_eq!(numbered_lines("99999999999999\ta\n4294967295\tb"), None);
    }
}
