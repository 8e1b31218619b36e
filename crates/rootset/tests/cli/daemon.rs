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
        let mut line = String::new();
        talk.read_line(&mut line).expect("a line");
        assert!(line.contains("the scheduler is running"), "{line}");
        let killed = Command::new("kill").args([signal, &daemon.id().to_string()]).status().expect("kill runs");
        assert!(killed.success());
        let mut rest = String::new();
        talk.read_to_string(&mut rest).expect("its last words");
        assert_eq!(daemon.wait().expect("it ends").code(), Some(0), "{rest}");
        assert!(rest.contains("the scheduler has stopped"), "{rest}");
    }
}
