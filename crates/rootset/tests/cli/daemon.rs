//! The daemon as a process: when it does not start, what it does once, and how it ends.

use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};

use crate::sandbox::Sandbox;

const ENABLED: (&str, &str) = ("ROOTSET_GC__ENABLED", "true");

#[test]
fn disabled_daemon_ends_well_names_the_key_and_makes_no_database() {
    let sandbox = Sandbox::new();
    let outcome = sandbox.run(["daemon"]);
    assert_eq!(outcome.status, Some(0), "{outcome:?}");
    assert!(outcome.stderr.contains("`gc.enabled` is false"), "{outcome:?}");
    assert!(!sandbox.has_database());
}

#[test]
fn once_does_what_is_due_and_then_nothing_for_an_interval() {
    let sandbox = Sandbox::new();
    for name in ["falcon", "heron", "eagle"] {
        sandbox.run(["add", &format!("{name} flies"), "--name", name]);
    }
    let variables = [ENABLED, ("ROOTSET_GC__AUTO_DELETE", "true"), ("ROOTSET_GC__RETENTION__MAX_COUNT", "2")];
    let outcome = sandbox.run_with_variables(&variables, ["daemon", "--once"]);
    assert_eq!(outcome.stdout, "1 workspace: 1 expired, 1 moved to the trash\n", "{outcome:?}");
    assert_eq!(sandbox.call("list_trash", "{}")["items"][0]["name"], "falcon");
    let outcome = sandbox.run_with_variables(&variables, ["daemon", "--once"]);
    assert!(outcome.stdout.starts_with("nothing is due before "), "{outcome:?}");
    let answer = sandbox.run_with_variables(&variables, ["daemon", "--once", "--json"]).json();
    assert!(answer["next_at"].is_string(), "{answer}");
}

/// Eight of ten memories are garbage, which is more than a plan may take.
fn overfull() -> (Sandbox, [(&'static str, &'static str); 3]) {
    let sandbox = Sandbox::new();
    for n in 0..10 {
        sandbox.run(["add", &format!("note number {n}")]);
    }
    (sandbox, [ENABLED, ("ROOTSET_GC__AUTO_DELETE", "true"), ("ROOTSET_GC__RETENTION__MAX_COUNT", "2")])
}

/// What follows these words up to the next blank.
fn word_after(text: &str, words: &str) -> String {
    let (_, rest) = text.split_once(words).unwrap_or_else(|| panic!("{words}: {text}"));
    rest.split_whitespace().next().unwrap_or_default().to_owned()
}

#[test]
fn once_names_an_announced_drain_with_the_command_that_stops_it_and_ends_with_3() {
    let (sandbox, variables) = overfull();
    let outcome = sandbox.run_with_variables(&variables, ["daemon", "--once"]);
    assert_eq!(outcome.status, Some(3), "{outcome:?}");
    let lines: Vec<&str> = outcome.stdout.lines().collect();
    assert_eq!(lines[0], "1 workspace: 8 expired, 0 moved to the trash");
    assert!(lines[1].starts_with("home: source `user`: 8 of 10 memories will go"), "{outcome:?}");
    assert_eq!(lines.len(), 2, "{outcome:?}");
    let again = sandbox.run_with_variables(&variables, ["daemon", "--once", "--json"]);
    assert_eq!(again.status, Some(3), "also when nothing is due: {again:?}");
    let waiting = &again.json()["waiting_for_a_person"][0];
    assert_eq!(
        (&waiting["workspace_id"], &waiting["garbage"], &waiting["total"]),
        (&"home".into(), &8.into(), &10.into())
    );
    let status = sandbox.run_with_variables(&variables, ["gc", "status"]);
    let drain = word_after(lines[1], "rootset undo --drain ");
    assert_eq!(word_after(&status.stdout, "rootset undo --drain "), drain, "{status:?}");
    let undone = sandbox.run(["undo", "--drain", &drain]);
    assert_eq!(undone.status, Some(0), "{undone:?}");
    assert!(undone.stderr.contains("the drain is stopped"), "{undone:?}");
    let outcome = sandbox.run_with_variables(&variables, ["daemon", "--once"]);
    assert_eq!(outcome.status, Some(0), "a person has decided: {outcome:?}");
    assert!(sandbox.run(["gc", "status"]).stdout.contains("nothing goes until the policy changes"));
}

#[test]
fn once_names_a_blocked_plan_with_the_command_that_applies_it() {
    let (sandbox, variables) = overfull();
    let variables = [&variables[..], &[("ROOTSET_GC__DRAIN", "never")]].concat();
    let outcome = sandbox.run_with_variables(&variables, ["daemon", "--once"]);
    assert_eq!(outcome.status, Some(3), "{outcome:?}");
    let plan = word_after(&outcome.stdout, "rootset gc apply ");
    let applied = sandbox.run_with_variables(&variables, ["gc", "apply", &plan, "--allow-large", "--yes"]);
    assert_eq!(applied.status, Some(0), "{applied:?}");
    assert_eq!(sandbox.run_with_variables(&variables, ["daemon", "--once"]).status, Some(0));
}

#[test]
fn once_fails_with_2_whatever_the_reason() {
    let sandbox = Sandbox::new();
    let bad = [ENABLED, ("ROOTSET_GC__STRATEGIES", "expired,everything")];
    let outcome = sandbox.run_with_variables(&bad, ["daemon", "--once"]);
    assert_eq!(outcome.status, Some(2), "{outcome:?}");
    assert!(outcome.stderr.contains("`superseded`"), "the known ones: {outcome:?}");
    let secretless = [
        ENABLED,
        ("ROOTSET_EVENTS__WEBHOOK__URL", "http://localhost:9/"),
        ("ROOTSET_EVENTS__WEBHOOK__SECRET_ENV", "HOOK"),
    ];
    let outcome = sandbox.run_with_variables(&secretless, ["daemon", "--once"]);
    assert_eq!(outcome.status, Some(2), "{outcome:?}");
    assert!(outcome.stderr.contains("names `HOOK`, which is not set"), "{outcome:?}");
    assert_eq!(
        sandbox.run_with_variables(&secretless, ["list"]).status,
        Some(0),
        "who delivers nothing needs no secret"
    );
}

#[test]
fn once_leaves_events_in_the_file_and_a_webhook_that_is_down_changes_no_status() {
    let (sandbox, variables) = overfull();
    let events = sandbox.work().join("events.jsonl");
    let places = [
        ("ROOTSET_EVENTS__FILE", events.to_str().expect("a path")),
        ("ROOTSET_EVENTS__WEBHOOK__URL", "http://127.0.0.1:9/"),
        ("ROOTSET_EVENTS__WEBHOOK__SECRET_ENV", "ROOTSET_HOOK_SECRET"),
        ("ROOTSET_HOOK_SECRET", "hunter2"),
    ];
    let variables = [&variables[..], &places].concat();
    let outcome = sandbox.run_with_variables(&variables, ["daemon", "--once"]);
    assert_eq!(outcome.status, Some(3), "{outcome:?}");
    assert!(outcome.stderr.contains("events for `webhook` were not delivered"), "{outcome:?}");
    let lines = std::fs::read_to_string(&events).expect("the events");
    let kinds: Vec<String> = lines
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).expect("JSON")["event"].to_string())
        .collect();
    assert!(kinds.contains(&r#""drain_announced""#.to_owned()), "{lines}");
    let shown = sandbox.run_with_variables(&variables, ["config", "show"]);
    assert!(!shown.stdout.contains("hunter2"), "{shown:?}");
    let audit = sandbox.run_with_variables(&variables, ["audit", "--kind", "drain_announced"]);
    assert!(audit.stdout.contains("drain_announced") && audit.stdout.contains("user"), "{audit:?}");
}

#[test]
fn clock_ahead_of_what_was_seen_is_waited_out_until_it_is_trusted() {
    let sandbox = Sandbox::new();
    sandbox.run(["add", "falcon flies"]);
    sandbox.run_with_variables(&[ENABLED], ["daemon", "--once"]);
    // As if the database had last been used ten years ago.
    let note = r#"{"started_at_ms": 1, "finished_at_ms": 2}"#;
    let sql = "UPDATE jobs SET cursor = ?1 WHERE workspace = 0";
    sandbox.sql().execute(sql, &[note.as_bytes().into()]).expect("the notes");
    sandbox.sql().execute("UPDATE observed_time SET last_wall_ms = 3", &[]).expect("the clock");
    let outcome = sandbox.run_with_variables(&[ENABLED], ["daemon", "--once"]);
    assert_eq!(outcome.status, Some(0), "{outcome:?}");
    assert!(outcome.stdout.contains("or nothing ran for so long"), "{outcome:?}");
    assert!(outcome.stdout.contains("rootset daemon --trust-clock"), "{outcome:?}");
    let status = sandbox.run(["gc", "status"]);
    assert!(status.stdout.contains("waiting"), "{status:?}");
    let outcome = sandbox.run_with_variables(&[ENABLED], ["daemon", "--once", "--trust-clock"]);
    assert_eq!(outcome.status, Some(0), "{outcome:?}");
    assert!(outcome.stdout.starts_with("1 workspace:"), "{outcome:?}");
}

#[test]
fn signals_end_the_daemon_well() {
    for signal in ["-INT", "-TERM"] {
        let sandbox = Sandbox::new();
        let mut command = Command::new(env!("CARGO_BIN_EXE_rootset"));
        command
            .env_clear()
            .envs(sandbox.variables())
            .env(ENABLED.0, ENABLED.1)
            .current_dir(sandbox.work())
            .arg("daemon")
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        let mut daemon = command.spawn().expect("the daemon starts");
        let mut talk = BufReader::new(daemon.stderr.take().expect("its stderr"));
        // On a server it says first how durable that is.
        let mut said = String::new();
        while !said.contains("the scheduler is running") {
            assert_ne!(talk.read_line(&mut said).expect("a line"), 0, "{said}");
        }
        let killed = Command::new("kill").args([signal, &daemon.id().to_string()]).status().expect("kill runs");
        assert!(killed.success());
        let mut rest = String::new();
        talk.read_to_string(&mut rest).expect("its last words");
        assert_eq!(daemon.wait().expect("it ends").code(), Some(0), "{rest}");
        assert!(rest.contains("the scheduler has stopped"), "{rest}");
    }
}
