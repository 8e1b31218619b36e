//! `rootset tour`: runs through, leaves nothing behind, and touches nothing of the caller's.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::sandbox::{Sandbox, outcome};

/// The folder for temporary files, which a tour must leave as empty as it was.
fn temporary(sandbox: &Sandbox) -> PathBuf {
    let folder = sandbox.work().with_file_name("temporary");
    fs::create_dir_all(&folder).expect("a folder for temporary files");
    folder
}

#[test]
fn tour_runs_through_without_a_terminal_and_leaves_nothing_behind() {
    let sandbox = Sandbox::new();
    let folder = temporary(&sandbox);
    // Settings that would break every command, did they reach one.
    fs::create_dir_all(sandbox.own_configuration().parent().unwrap()).unwrap();
    fs::write(sandbox.own_configuration(), "nonsense = true\n").unwrap();
    let mut command = sandbox.command();
    command.env("TMPDIR", &folder).env("ROOTSET_GC__GRACE", "nonsense").arg("tour");
    let told = outcome(&mut command);
    assert_eq!(told.status, Some(0), "{told:?}");
    for line in [
        "$ rootset search \"who owns the deploy script?\"\n",
        "falcon-deploy",
        "$ rootset rm falcon-cache --yes\nmoved to the trash",
        "$ rootset undo --last\nrestored 1 memory",
        "$ rm shop/legacy.py\n",
        "stale: 1 file",
        "$ rootset context restore login m4\n2 segments restored",
        "That was it.",
    ] {
        assert!(told.stdout.contains(line), "`{line}` is not in {}", told.stdout);
    }
    assert!(!told.stderr.contains("error"), "{told:?}");
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 0, "something is left of the tour");
    assert!(!sandbox.has_database());
}

#[test]
fn tour_that_is_told_to_end_cleans_up() {
    let sandbox = Sandbox::new();
    let folder = temporary(&sandbox);
    let mut child = Command::new(env!("CARGO_BIN_EXE_rootset"))
        .arg("tour")
        .env_clear()
        .envs(sandbox.variables())
        .env("TMPDIR", &folder)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    let mut told = String::new();
    stdout.read_line(&mut told).unwrap();
    let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(killed.success());
    stdout.read_to_string(&mut told).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(1), "{told}");
    assert!(!told.contains("That was it."), "{told}");
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 0, "something is left of the tour");
}

#[test]
fn tour_has_no_json() {
    let sandbox = Sandbox::new();
    assert_eq!(sandbox.run(["tour", "--json"]).error_code(), "invalid_argument");
}
