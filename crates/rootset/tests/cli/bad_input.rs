//! Nonsense comes back as an error that names the thing, with status 1, and changes nothing.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use crate::sandbox::{Sandbox, outcome};

#[track_caller]
fn refused<const N: usize>(sandbox: &Sandbox, arguments: [&str; N], says: &str) {
    let outcome = sandbox.run(arguments);
    assert_eq!(outcome.status, Some(1), "{outcome:?}");
    assert_eq!(outcome.stdout, "", "{outcome:?}");
    assert!(outcome.stderr.starts_with("error: "), "{outcome:?}");
    assert!(outcome.stderr.contains(says), "`{says}` is not in {outcome:?}");
}

#[test]
fn blank_and_oversized_fields_are_refused() {
    let sandbox = Sandbox::new();
    refused(&sandbox, ["add", " \n "], "`context` is blank");
    refused(&sandbox, ["add", "x", "--topic", " "], "`topic` is blank");
    refused(&sandbox, ["add", "x", "--topic", &"t".repeat(501)], "`topic` has 501 characters, more than 500");
    refused(&sandbox, ["add", "x", "--name", "Not A Name"], "`name`");
    refused(&sandbox, ["add", "x", "--name", &"n".repeat(129)], "`name`");
    refused(&sandbox, ["add", "x", "--tag", ""], "tag");
    refused(&sandbox, ["add", "x", "--source", "two words"], "`source`");
    refused(&sandbox, ["add", "x", "--source", "code_indexer"], "reserved");
    refused(&sandbox, ["add", "x", "--metadata", "[1]"], "must be a JSON object");
    refused(&sandbox, ["add", "x", "--metadata", "{"], "`--metadata` ends too early, at line 1, column 1");
    refused(&sandbox, ["add", "x", "--expires", "soon"], "`--expires`: `soon` is not a time; allowed:");
    let outcome = sandbox.run_with_input(["add", "-"], "x".repeat((1 << 20) + 1));
    assert_eq!(outcome.status, Some(1));
    assert!(outcome.stderr.contains("1048577 bytes, more than 1048576"), "{outcome:?}");
    assert_eq!(sandbox.call("list_memories", "{}")["total"], 0);
}

#[test]
fn unknown_ids_fields_operations_and_options_are_refused() {
    let sandbox = Sandbox::new();
    refused(&sandbox, ["show", "nobody"], "no memory `nobody`");
    refused(&sandbox, ["edit", "nobody", "--topic", "x"], "no memory `nobody`");
    refused(&sandbox, ["rm", "nobody", "--yes"], "no memory `nobody`");
    refused(&sandbox, ["undo", "nobody"], "no memory `nobody`");
    refused(&sandbox, ["undo", "018f2f3e-9c4b-7cc1-a1f0-000000000001"], "018f2f3e");
    refused(&sandbox, ["supersede", "nobody", "no-one"], "no memory");
    refused(&sandbox, ["gc", "plan", "nonsense"], "`STRATEGY` must be one of `all`, ");
    refused(&sandbox, ["gc", "plan", "018f2f3e-9c4b-7cc1-a1f0-000000000001"], "no plan");
    refused(&sandbox, ["prune", "--plan", "nonsense"], "is not an id");
    refused(&sandbox, ["prune", "--strategy", "nonsense"], ", not `nonsense`");
    refused(&sandbox, ["gc", "apply", "018f2f3e-9c4b-7cc1-a1f0-000000000001", "--yes"], "no plan");
    refused(&sandbox, ["gc", "explain", "nobody"], "nobody");
    refused(&sandbox, ["gc", "purge", "--older-than", "soon", "--yes"], "`older_than`");
    refused(&sandbox, ["gc", "purge", "--yes"], "--run");
    refused(&sandbox, ["entity", "show", "nobody"], "no entity `nobody`");
    refused(&sandbox, ["list", "-w", "hom"], "did you mean `home`?");
    refused(&sandbox, ["list", "-w", "Not Valid"], "`workspace` is `\"Not Valid\"` in the flag `--workspace`");
    refused(&sandbox, ["list", "--lifecycle", "undead"], "`--lifecycle` must be one of `live`, ");
    refused(&sandbox, ["list", "--limit=-1"], "`limit` is -1, below 0");
    refused(&sandbox, ["list", "--limit", "many"], "many");
    refused(&sandbox, ["forget"], "at least one of");
    refused(&sandbox, ["forget", "--kind", "ghosts", "x"], "`--kind` must be one of `memories`, ");
    refused(&sandbox, ["graph", "import", "nowhere.json"], "cannot open `nowhere.json`");
    refused(&sandbox, ["workspace", "delete", "home", "--yes"], "cannot be deleted");
    refused(&sandbox, ["lst"], "unrecognized subcommand 'lst'");
    refused(&sandbox, ["list", "--nonsense"], "--nonsense");
    let outcome = sandbox.run(["call", "add_memory", r#"{"text": "x", "topik": "y"}"#]);
    assert_eq!(outcome.json()["error"]["hint"], "did you mean `topic`?");
    let outcome = sandbox.run(["call", "serch_memory", "{}"]);
    assert_eq!(outcome.json()["error"]["hint"], "did you mean `search_memory`?");
}

#[test]
fn a_parser_s_own_words_are_never_shown() {
    let sandbox = Sandbox::new();
    sandbox.write("session.json", r#"[{"role": }]"#);
    for arguments in [
        &["add", "x", "--metadata", r#"{"a": tru}"#][..],
        &["call", "add_memory", r#"{"text""#],
        &[
            "call",
            "context_add",
            r#"{"session_id": "x", "segments": [{"type": "note", "text": "", "line_range": [-1, 2]}]}"#,
        ],
        &["context", "import", "session.json", "--format", "openai"],
        &["context", "import", "session.json", "--format", "rootset"],
        &["context", "add", "x", "text", "--type", "verse"],
        &["context", "configure", "x", "--mode", "nonsense"],
        &["gc", "plan", "nonsense"],
        &["import", "session.json"],
        &["list", "--order-by", "nonsense"],
        &["token", "create", "x", "--scopes", "nonsense"],
    ] {
        let said = outcome(sandbox.command().args(arguments));
        assert_eq!(said.status, Some(1), "{arguments:?}: {said:?}");
        let text = format!("{}{}", said.stdout, said.stderr);
        for words in
            ["expected ", "EOF while", "unknown variant", "invalid value", "missing field", " at line 1 column "]
        {
            assert!(!text.contains(words), "{arguments:?} shows `{words}`: {text}");
        }
    }
}

#[test]
fn text_that_is_not_utf8_is_refused_by_name() {
    let sandbox = Sandbox::new();
    let broken = OsStr::from_bytes(b"caf\xe9");
    let said = outcome(sandbox.command().args([OsStr::new("search"), broken]));
    assert_eq!(said.status, Some(1), "{said:?}");
    assert!(said.stderr.contains("invalid UTF-8"), "{said:?}");
    let said = outcome(sandbox.command().args([OsStr::new("call"), OsStr::new("add_memory"), broken]));
    assert_eq!((said.status, said.error_code().as_str()), (Some(1), "invalid_argument"));
    let said = sandbox.run_with_input(["add", "-"], b"caf\xe9".to_vec());
    assert_eq!(said.status, Some(1), "{said:?}");
    assert!(said.stderr.contains("standard input is not UTF-8 text: the byte at 3 is invalid"), "{said:?}");
    let said = sandbox.run_with_input(["call", "add_memory", "-"], b"{\"text\": \"\xff\"}".to_vec());
    assert_eq!((said.status, said.error_code().as_str()), (Some(1), "invalid_argument"));
    let said = outcome(sandbox.command().env("ROOTSET_WORKSPACE", broken).arg("list"));
    assert_eq!(said.status, Some(1), "{said:?}");
    assert!(said.stderr.contains("`ROOTSET_WORKSPACE` is not UTF-8"), "{said:?}");
}

#[test]
fn wrong_usage_is_one_line_and_a_hint() {
    let sandbox = Sandbox::new();
    let said = |arguments: &[&str]| outcome(sandbox.command().args(arguments)).stderr;
    assert_eq!(said(&["lst"]), "error: unrecognized subcommand 'lst'\nhint: a similar subcommand exists: 'list'\n");
    for arguments in [
        &["rm"][..],
        &["list", "--limit", "many"],
        &["list", "--quite"],
        &["gc", "purge"],
        &["install", "emacs"],
        &["undo", "--last", "x"],
        &["context", "prune"],
    ] {
        let said = said(arguments);
        let lines: Vec<&str> = said.lines().collect();
        assert!(
            matches!(lines[..], [error, hint] if error.starts_with("error: ") && hint.starts_with("hint: ")),
            "{said}"
        );
    }
}
