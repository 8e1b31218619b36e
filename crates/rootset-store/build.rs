//! Turns `sql/*.sql` into typed constants: a statement that does not exist is a compile error, not a surprise at run
//! time, and the list of all statements can be walked by tests. Statements that one kind alone needs may be in the file of
//! the kind, in its `statements!`. The migrations become lists, by the numbers in their names.
//!
//! A statement is written once, in words that both engines share; the few that they do not share are rewritten here, word
//! by word and never by meaning: placeholders, the list functions, `greatest` and `least`, and what only PostgreSQL has to be told.
//! Rows that the application may not reach itself on PostgreSQL are asked of a function there: `-- on postgres:`.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() {
    println!("cargo:rerun-if-changed=sql");
    println!("cargo:rerun-if-changed=src/kinds");
    println!("cargo:rerun-if-changed=migrations");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    fs::write(out.join("statements.rs"), statements()).expect("OUT_DIR is writable");
    let migrations = [("SQLITE", "sqlite"), ("POSTGRES", "postgres")].map(|(name, engine)| migrations(name, engine));
    fs::write(out.join("migrations.rs"), migrations.concat()).expect("OUT_DIR is writable");
}

/// The files of a folder with this ending, in the order of their names: each with the name, without the ending, and its text.
fn files(folder: &str, ending: &str) -> Vec<(String, String)> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{folder}: {error}"));
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("readable").path()).collect();
    paths.sort();
    let named = |path: &PathBuf| {
        let name = path.file_stem().and_then(|it| it.to_str()).expect("files have plain names").to_owned();
        (name, fs::read_to_string(path).expect("files are readable"))
    };
    paths.iter().filter(|path| path.extension().is_some_and(|it| it == ending)).map(named).collect()
}

/// A list of pairs: the version that a migration brings the schema to, which its name begins with, and its text.
fn migrations(list: &str, engine: &str) -> String {
    let folder = Path::new(&env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it")).join("migrations").join(engine);
    let mut rows = String::new();
    for (name, _) in files(folder.to_str().expect("a path of plain text"), "sql") {
        let Some(version) = name.split('_').next().and_then(|number| number.parse::<i64>().ok()) else { continue };
        let path = folder.join(format!("{name}.sql"));
        writeln!(rows, "    ({version}, include_str!({path:?})),").expect("a string");
    }
    let only_with = if engine == "postgres" { "#[cfg(feature = \"postgres\")]\n" } else { "" };
    format!("{only_with}pub const {list}: &[(i64, &str)] = &[\n{rows}];\n")
}

/// The text of a kind's own statements, where it has any.
fn of_kind(text: &str) -> Option<&str> {
    let (_, text) = text.split_once("\nstatements!(")?;
    let (_, text) = text.split_once("r#\"").expect("the statements of a kind are a raw string");
    Some(text.split_once("\"#").expect("a raw string has an end").0)
}

fn statements() -> String {
    let mut texts = files("sql", "sql");
    let of_kinds = files("src/kinds", "rs");
    texts.extend(of_kinds.iter().filter_map(|(name, text)| Some((name.clone(), of_kind(text)?.to_owned()))));
    let of_texts = texts.iter().flat_map(|(_, text)| sections(text, "-- fragment: "));
    let fragments: Vec<(String, String)> = of_texts.map(|section| (section.name, section.sql)).collect();
    let mut generated = String::new();
    let mut all = String::new();
    for (module, text) in &texts {
        writeln!(generated, "pub mod {module} {{").expect("a string");
        for Section { name, sql, on_postgres, scans } in sections(text, "-- name: ") {
            let whole = |sql: &str| {
                // A fragment may ask about every kind, and what a kind has to say may use fragments.
                let sql = with_every_kind(with_fragments(sql, &fragments), &fragments);
                let sql = with_fragments(&sql, &fragments);
                assert!(!sql.contains("{{"), "unknown fragment in: {sql}");
                sql
            };
            let on_postgres = whole(on_postgres.as_deref().unwrap_or(&sql));
            let sql = whole(&sql);
            let constant = name.to_uppercase();
            writeln!(
                generated,
                "    pub static {constant}: crate::driver::Statement = crate::driver::Statement {{\n        \
                 name: \"{module}.{name}\",\n        sqlite: r#\"{}\"#,\n        postgres: r#\"{}\"#,\n        \
                 #[cfg(test)]\n        scans: {scans:?},\n    }};",
                for_sqlite(&sql),
                for_postgres(&on_postgres)
            )
            .expect("a string");
            writeln!(all, "    &{module}::{constant},").expect("a string");
        }
        generated.push_str("}\n");
    }
    writeln!(
        generated,
        "/// Every statement, for tests that walk them.\n#[cfg(test)]\npub static ALL: &[&crate::driver::Statement] = &[\n{all}];"
    )
    .expect("a string");
    generated
}

struct Section {
    name: String,
    sql: String,
    /// In other words on PostgreSQL, where rows are reached through a function: what follows a line `-- on postgres:`.
    on_postgres: Option<String>,
    /// Why the statement may read all of a workspace or table: what a line `-- scans: …` says.
    scans: Option<String>,
}

/// The sections of a file that begin with `marker`; other comment lines are dropped.
fn sections(text: &str, marker: &str) -> Vec<Section> {
    let mut sections: Vec<Section> = Vec::new();
    let mut is_inside = false;
    for line in text.lines() {
        if let Some(name) = line.strip_prefix(marker) {
            sections.push(Section { name: name.trim().to_owned(), sql: String::new(), on_postgres: None, scans: None });
            is_inside = true;
        } else if line.starts_with("-- name: ") || line.starts_with("-- fragment: ") {
            is_inside = false;
        } else if let Some(section) = sections.last_mut().filter(|_| is_inside) {
            if let Some(reason) = line.strip_prefix("-- scans: ") {
                section.scans = Some(reason.to_owned());
            } else if line == "-- on postgres:" {
                section.on_postgres = Some(String::new());
            } else if !line.trim_start().starts_with("--") {
                let text = section.on_postgres.as_mut().unwrap_or(&mut section.sql);
                text.push_str(line);
                text.push('\n');
            }
        }
    }
    for section in &mut sections {
        for text in std::iter::once(&mut section.sql).chain(&mut section.on_postgres) {
            *text = text.trim().trim_end_matches(';').to_owned();
        }
    }
    sections
}

/// Replaces `{{each part UNION ALL}}` by all fragments named `part.<kind>`, joined by the words after it: so that one
/// statement asks about every kind of object, and none of them is listed in two places.
fn with_every_kind(mut sql: String, fragments: &[(String, String)]) -> String {
    const OPENING: &str = "{{each ";
    while let Some(at) = sql.find(OPENING) {
        let end = at + sql[at..].find("}}").expect("a part is closed");
        let (part, separator) = sql[at + OPENING.len()..end].split_once(' ').expect("a part has its separator");
        let prefix = format!("{part}.");
        let of_kinds: Vec<&str> =
            fragments.iter().filter(|(name, _)| name.starts_with(&prefix)).map(|(_, text)| text.as_str()).collect();
        assert!(!of_kinds.is_empty(), "no kind has `{part}`");
        let joined = of_kinds.join(&format!("\n{separator}\n"));
        sql.replace_range(at..end + 2, &joined);
    }
    sql
}

/// Replaces `{{name}}` by the fragment of that name; fragments may use other fragments, a few levels deep.
fn with_fragments(sql: &str, fragments: &[(String, String)]) -> String {
    let mut sql = sql.to_owned();
    for _ in 0..4 {
        for (name, text) in fragments {
            sql = sql.replace(&format!("{{{{{name}}}}}"), text);
        }
    }
    sql
}

/// The list functions of `sql/`, each with one column named `value`, and the type of array that PostgreSQL takes for it.
const LISTS: [(&str, &str); 3] = [("integer_list(", "bigint"), ("blob_list(", "bytea"), ("text_list(", "text")];

/// What only PostgreSQL has to be told. Locks of rows: one writer at a time has all of SQLite's. And that a condition is
/// asked row by row, through its index, as SQLite does: sized by the average workspace, a plan would rather read all of a
/// workspace into memory, however large this one is.
const POSTGRES_WORDS: [(&str, &str); 3] =
    [("skip_locked()", "FOR UPDATE SKIP LOCKED"), ("for_update()", "FOR UPDATE"), ("row_by_row()", "OFFSET 0")];

/// In SQLite's words. Both engines agree on `greatest` and `least` only where no argument is null.
fn for_sqlite(sql: &str) -> String {
    let mut sql = sql.replace("greatest(", "MAX(").replace("least(", "MIN(");
    for (list, _) in LISTS {
        sql = sql.replace(list, "rarray(");
    }
    for (word, _) in POSTGRES_WORDS {
        sql = sql.replace(word, "");
    }
    sql.trim_end().to_owned()
}

/// How a list stands in a statement, and what becomes of that on PostgreSQL: the words before and after its argument, and
/// those in their place. What asks for the members of a list compares with an array: that is a condition of an index
/// whatever the planner believes about sizes, and a join with a list is not.
const LIST_FORMS: [(&str, &str, &str, &str); 3] = [
    ("NOT IN (SELECT value FROM ", "))", "<> ALL (", ")"),
    ("IN (SELECT value FROM ", "))", "= ANY (", ")"),
    ("", ")", "unnest(", ") AS list (value)"),
];

/// In PostgreSQL's words.
fn for_postgres(sql: &str) -> String {
    let mut sql = sql.to_owned();
    for (list, element) in LISTS {
        for (before, after, opening, closing) in LIST_FORMS {
            let marker = format!("{before}{list}");
            while let Some(at) = sql.find(&marker) {
                let argument = at + marker.len();
                let end = argument + sql[argument..].find(after).expect("a list has one argument");
                let array = format!("{opening}{}::{element}[]{closing}", &sql[argument..end]);
                sql.replace_range(at..end + after.len(), &array);
            }
        }
    }
    for (word, meaning) in POSTGRES_WORDS {
        sql = sql.replace(word, meaning);
    }
    assert!(!sql.contains('$') && !sql.contains("'?"), "no text of a statement looks like a placeholder: {sql}");
    sql.replace('?', "$")
}
