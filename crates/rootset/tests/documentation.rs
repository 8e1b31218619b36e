//! The examples in the documentation are run, in order, on one new database per page; what they print is compared.
//!
//! `ROOTSET_UPDATE_DOCS=1` writes what they print into the pages instead, for review.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use rootset_testing::temporary_folder;

#[test]
fn examples_of_the_memory_page_print_what_it_says() {
    check("docs/memory.md");
}

#[test]
fn examples_of_the_collector_page_print_what_it_says() {
    check("docs/collector.md");
}

#[test]
fn examples_of_the_code_page_print_what_it_says() {
    check("docs/code.md");
}

#[test]
fn examples_of_the_context_page_print_what_it_says() {
    check("docs/context.md");
}

#[test]
fn examples_of_the_readme_print_what_it_says() {
    check("README.md");
}

fn check(page: &str) {
    let project = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    let path = project.join(page);
    let text = fs::read_to_string(&path).expect("the page exists");
    let folder = temporary_folder();
    bring_examples(&project, folder.path());
    // Pages begin where a database is: what is said about a new one would stand on each of them.
    run("rootset stats --quiet", folder.path());
    let actual = run_examples(&text, folder.path());
    if std::env::var_os("ROOTSET_UPDATE_DOCS").is_some() {
        fs::write(&path, actual).expect("the page can be written");
        return;
    }
    for (line, (expected, actual)) in text.lines().zip(actual.lines()).enumerate() {
        assert_eq!(expected, actual, "{page}, line {}", line + 1);
    }
    assert_eq!(text.lines().count(), actual.lines().count(), "{page} ends early or late");
}

/// Files that pages name as somebody in a clone would.
fn bring_examples(project: &Path, folder: &Path) {
    const EXAMPLES: &str = "docs/examples";
    fs::create_dir_all(folder.join(EXAMPLES)).expect("a folder for examples");
    for entry in fs::read_dir(project.join(EXAMPLES)).expect("the examples") {
        let entry = entry.expect("an example");
        fs::copy(entry.path(), folder.join(EXAMPLES).join(entry.file_name())).expect("a copy");
    }
}

/// The page with the output of every `$ rootset …` command in its console blocks as it is now. Of other commands only
/// those that make, change and remove files are run.
fn run_examples(text: &str, folder: &Path) -> String {
    let mut page = String::new();
    let mut lines = text.lines().peekable();
    let mut is_console = false;
    while let Some(line) = lines.next() {
        page.push_str(line);
        page.push('\n');
        if line.starts_with("```") {
            is_console = line == "```console";
            continue;
        }
        const COMMANDS: [&str; 5] = ["$ rootset ", "$ mkdir ", "$ printf ", "$ mv ", "$ rm "];
        if !is_console || !COMMANDS.iter().any(|command| line.starts_with(command)) {
            continue;
        }
        while lines.peek().is_some_and(|next| !next.starts_with("```") && !next.starts_with("$ ")) {
            lines.next();
        }
        page.push_str(&normalised(&run(&line[2..], folder)));
    }
    page
}

fn run(command: &str, folder: &Path) -> String {
    let binary = Path::new(env!("CARGO_BIN_EXE_rootset"));
    let path = std::env::join_paths(
        std::iter::once(binary.parent().expect("a folder").to_owned())
            .chain(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())),
    )
    .expect("a search path");
    let output = Command::new("sh")
        .args(["-c", command])
        .current_dir(folder)
        .env_clear()
        .env("PATH", path)
        .env("TZ", "UTC")
        .env("HOME", folder)
        .env("ROOTSET_DB", folder.join("rootset.db"))
        .output()
        .expect("a shell");
    let printed = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    printed.replace(&folder.display().to_string(), "/home/alice")
}

/// Ids, times and sizes differ from run to run; JSON is shown indented.
#[expect(clippy::disallowed_types, reason = "a page may show any JSON")]
fn normalised(output: &str) -> String {
    let indented = serde_json::from_str::<serde_json::Value>(output)
        .and_then(|json| serde_json::to_string_pretty(&json))
        .unwrap_or_else(|_| output.to_owned());
    let mut page = String::new();
    for line in indented.lines() {
        let line = replace_runs(line, is_id_char, |run| run.len() == 36 && run.matches('-').count() == 4);
        let line = replace_runs(&line, is_id_char, |run| run.len() == 64);
        // Fingerprints of keys, and ids of backups.
        let line = replace_runs(&line, is_id_char, |run| run.len() == 39 && run.matches('-').count() == 7);
        let line = replace_runs(&line, is_id_char, |run| run.len() == 24 && run.matches('-').count() == 2);
        let line = replace_runs(&line, is_time_char, |run| run.len() == 24 && run.ends_with('Z') && run.contains('T'));
        let line = replace_minutes(&line);
        let is_size = ["database_bytes", "wal_bytes", "free_bytes"].iter().any(|key| line.contains(key));
        match line.split_once(": ").filter(|_| is_size) {
            Some((key, value)) => {
                page.push_str(key);
                page.push_str(": …");
                page.push_str(if value.ends_with(',') { "," } else { "" });
            }
            None => page.push_str(line.trim_end()),
        }
        page.push('\n');
    }
    page
}

fn is_id_char(c: char) -> bool {
    c.is_ascii_hexdigit() || c == '-'
}

fn is_time_char(c: char) -> bool {
    c.is_ascii_digit() || "-:.TZ".contains(c)
}

/// Replaces `2026-11-15 07:26 UTC`, as people are shown times, wherever it stands.
fn replace_minutes(line: &str) -> String {
    const SHAPE: &[u8] = b"dddd-dd-dd dd:dd UTC";
    let is_minute = |window: &[u8]| {
        window.iter().zip(SHAPE).all(|(byte, shape)| if *shape == b'd' { byte.is_ascii_digit() } else { byte == shape })
    };
    let mut replaced = line.to_owned();
    while let Some(start) = replaced.as_bytes().windows(SHAPE.len()).position(is_minute) {
        replaced.replace_range(start..start + SHAPE.len(), "…");
    }
    replaced
}

/// Replaces every run of characters of a kind that looks like what is meant by `…`.
fn replace_runs(line: &str, is_part: fn(char) -> bool, is_meant: fn(&str) -> bool) -> String {
    let mut replaced = String::new();
    let mut rest = line;
    while let Some(start) = rest.find(is_part) {
        let length = rest[start..].find(|c| !is_part(c)).unwrap_or(rest.len() - start);
        let run = &rest[start..start + length];
        replaced.push_str(&rest[..start]);
        replaced.push_str(if is_meant(run) { "…" } else { run });
        rest = &rest[start + length..];
    }
    replaced.push_str(rest);
    replaced
}

#[test]
fn examples_of_the_tour_page_print_what_it_says() {
    check("docs/tour.md");
}

/// The block between these fences is written by the program.
fn check_block(page: &str, opening: &str, block: &str) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..").join(page);
    let text = fs::read_to_string(&path).expect("the page exists");
    let start = text.find(opening).expect("the page has the block") + opening.len();
    let end = start + text[start..].find("\n```").expect("the block ends");
    if std::env::var_os("ROOTSET_UPDATE_DOCS").is_some() {
        fs::write(&path, format!("{}{}{}", &text[..start], block.trim_end(), &text[end..]))
            .expect("the page can be written");
        return;
    }
    assert_eq!(text[start..end], *block.trim_end(), "{page}; `ROOTSET_UPDATE_DOCS=1` writes it anew");
}

#[test]
fn the_configuration_page_lists_every_key_with_its_default() {
    let folder = temporary_folder();
    check_block("docs/configuration.md", "```toml\n", &run("rootset config example", folder.path()));
}

/// Every command with its own help, in the order of `rootset --help`; a group's commands follow it.
#[test]
fn the_command_page_lists_every_command() {
    let folder = temporary_folder();
    let mut listed = String::new();
    for name in names_in(&run("rootset --help", folder.path())) {
        let inner = names_in(&run(&format!("rootset {name} --help"), folder.path()));
        let paths: Vec<String> = match inner.is_empty() {
            true => vec![name],
            false => inner.iter().filter(|it| *it != "help").map(|inner| format!("{name} {inner}")).collect(),
        };
        for path in paths {
            let help = run(&format!("rootset {path} --help"), folder.path());
            let about = help.lines().next().unwrap_or_default();
            let usage = help.lines().find_map(|line| line.strip_prefix("Usage: ")).unwrap_or_default();
            listed.push_str(&format!("{usage}\n    {about}\n"));
        }
    }
    check_block("docs/commands.md", "```text\n", &listed);
}

/// The names in the lists of commands that a help shows: two blanks, a name, blanks, a description.
fn names_in(help: &str) -> Vec<String> {
    let commands = help.lines().take_while(|line| *line != "Options:" && *line != "Examples:" && *line != "Arguments:");
    let entry = |line: &str| {
        let (name, about) = line.strip_prefix("  ")?.split_once("  ")?;
        (!about.trim().is_empty() && name.chars().all(|it| it.is_ascii_lowercase())).then(|| name.to_owned())
    };
    commands.filter_map(entry).collect()
}
