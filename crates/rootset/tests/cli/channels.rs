//! stdout is data, stderr is talk; a closed pipe is no panic; what is remembered cannot drive the terminal.

use std::io::Read;
use std::process::{Command, Stdio};

use crate::sandbox::Sandbox;

#[test]
fn escapes_in_a_memory_are_shown_and_not_sent_to_the_terminal() {
    let sandbox = Sandbox::new();
    let text = "red \u{1b}[31malert\u{7} \u{202e}txt";
    sandbox.run_with_input(["add", "-", "--name", "evil"], text);
    for arguments in [["show", "evil"], ["search", "red"], ["list", "red"]] {
        let outcome = sandbox.run(arguments);
        assert!(outcome.stdout.contains("\\u{1b}[31malert\\u{7} \\u{202e}txt"), "{outcome:?}");
        assert!(!outcome.stdout.contains(['\u{1b}', '\u{7}', '\u{202e}']), "{outcome:?}");
    }
    assert_eq!(sandbox.run(["show", "evil", "--json"]).json()["context"], text);
    let outcome = sandbox.run(["show", "\u{1b}[31m"]);
    assert!(!outcome.stderr.contains('\u{1b}'), "{outcome:?}");
}

#[test]
fn remarks_go_to_stderr_and_quiet_leaves_them_out() {
    let sandbox = Sandbox::new();
    sandbox.run(["add", "falcon"]);
    assert_eq!(sandbox.run(["list"]).stderr, "1 memory\n");
    assert_eq!(sandbox.run(["list", "--quiet"]).stderr, "");
    assert_eq!(sandbox.run(["search", "zebra-crossing-nobody-wrote"]).stdout, "");
}

#[test]
fn colour_is_for_terminals_only() {
    let sandbox = Sandbox::new();
    sandbox.run(["add", "falcon"]);
    assert!(!sandbox.run(["show", "falcon"]).stdout.contains('\u{1b}'));
}

#[test]
fn closed_pipe_ends_quietly() {
    let sandbox = Sandbox::new();
    let memories: Vec<String> = (0..100).map(|n| format!(r#"{{"text": "{} {n}"}}"#, "long ".repeat(400))).collect();
    let request = format!(r#"{{"memories": [{}]}}"#, memories.join(","));
    assert_eq!(sandbox.run_with_input(["call", "add_memories", "-"], request).status, Some(0));
    for arguments in [["list", "--limit=100"], ["list", "--json"], ["completions", "zsh"], ["man", "context"]] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_rootset"))
            .args(arguments)
            .env_clear()
            .envs(sandbox.variables())
            .current_dir(sandbox.work())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // Closing the reading end before anything is written: every write finds a broken pipe.
        drop(child.stdout.take());
        let mut stderr = String::new();
        child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
        let status = child.wait().unwrap();
        assert!(status.success(), "{arguments:?}: {status} {stderr}");
        assert!(!stderr.contains("panic") && !stderr.contains("error"), "{arguments:?}: {stderr}");
    }
}

#[test]
fn full_stdout_is_an_error_of_ours() {
    let sandbox = Sandbox::new();
    sandbox.run(["add", "falcon"]);
    let Ok(full) = std::fs::OpenOptions::new().write(true).open("/dev/full") else { return };
    let output = Command::new(env!("CARGO_BIN_EXE_rootset"))
        .args(["list", "--json"])
        .env_clear()
        .envs(sandbox.variables())
        .current_dir(sandbox.work())
        .stdout(full)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("the answer could not be written"));
}

#[test]
fn logs_are_on_stderr_and_hold_no_content() {
    let sandbox = Sandbox::new();
    let outcome = sandbox.run_with_variables(&[("ROOTSET_LOG", "trace")], ["add", "xylophone-secret-word", "--json"]);
    assert_eq!(outcome.status, Some(0), "{outcome:?}");
    assert!(!outcome.stderr.contains("xylophone"), "{outcome:?}");
    let outcome = sandbox.run_with_variables(&[("ROOTSET_LOG", "loud")], ["list"]);
    assert_eq!(outcome.status, Some(1));
    assert!(outcome.stderr.contains("`ROOTSET_LOG` is `loud`; allowed: off, error, warn"), "{outcome:?}");
}

#[test]
fn new_sqlite_file_is_told_about_once_and_only_to_people() {
    let sandbox = Sandbox::new();
    let first = sandbox.run(["list"]);
    let line = format!("new database: {} ", sandbox.sqlite_file().display());
    assert!(first.stderr.contains(&line), "{first:?}");
    assert!(first.stderr.contains("rootset tour") && first.stderr.contains("rootset install"), "{first:?}");
    assert!(!sandbox.run(["list"]).stderr.contains("new database"));
    for arguments in [["list", "--quiet"], ["list", "--json"], ["call", "get_stats"]] {
        let outcome = Sandbox::new().run(arguments);
        assert_eq!((outcome.status, outcome.stderr.as_str()), (Some(0), ""), "{arguments:?}");
    }
}

#[test]
fn manual_pages_are_printed_by_command() {
    let sandbox = Sandbox::new();
    let page = sandbox.run(["man"]).stdout;
    assert!(page.contains(".TH rootset") && page.contains("\\-\\-workspace"), "{page}");
    let page = sandbox.run(["man", "gc", "plan"]).stdout;
    assert!(page.contains(".TH rootset-gc-plan"), "{page}");
    let outcome = sandbox.run(["man", "gc", "plot"]);
    assert_eq!(outcome.status, Some(1));
    assert!(outcome.stderr.contains("no command `rootset gc plot`"), "{outcome:?}");
}

#[test]
fn help_is_grouped_and_fits_a_screen() {
    let help = Sandbox::new().run(["--help"]).stdout;
    for heading in ["Start:", "Memories:", "Forgetting:", "Code and context:", "Upkeep:", "Options:"] {
        assert!(help.lines().any(|line| line == heading), "no `{heading}` in {help}");
    }
    assert!(!help.contains("\nMore:\n"), "a command without a group: {help}");
    assert!(help.lines().count() <= 70, "{} lines", help.lines().count());
}
