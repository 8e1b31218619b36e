//! Backups, restores and damaged files at the command line.

use std::fs;

use crate::sandbox::Sandbox;

#[test]
fn a_backup_is_made_listed_checked_and_restored() {
    let sandbox = Sandbox::new();
    sandbox.run(["add", "falcon", "--name", "falcon"]);
    let created = sandbox.run(["backup", "create", "--json"]).json();
    let id = created["backup_id"].as_str().unwrap().to_owned();
    assert!(sandbox.run(["backup", "list"]).stdout.contains(&id));
    let verified = sandbox.run(["backup", "verify", &id]);
    assert_eq!((verified.status, verified.stdout.as_str()), (Some(0), "ok\n"));
    sandbox.run(["add", "eagle", "--name", "eagle"]);
    let refused = sandbox.run(["backup", "restore", &id, "--json"]);
    assert_eq!((refused.status, refused.error_code().as_str()), (Some(1), "confirmation_required"));
    let restored = sandbox.run(["backup", "restore", &id, "--yes"]);
    assert_eq!(restored.status, Some(0), "{restored:?}");
    assert!(restored.stdout.contains("restored 1 memory in home"), "{restored:?}");
    assert_eq!(sandbox.run(["show", "eagle"]).status, Some(1));
    assert_eq!(sandbox.run(["defrag", "--yes"]).status, Some(0));
    assert_eq!(sandbox.run(["doctor"]).status, Some(0));
}

#[test]
fn one_workspace_is_backed_up_and_restored_under_another_name() {
    let sandbox = Sandbox::new();
    sandbox.run(["workspace", "create", "research"]);
    sandbox.run(["add", "falcon", "--name", "falcon", "--workspace", "research"]);
    let created = sandbox.run(["backup", "create", "--workspace", "research", "--json"]).json();
    let path = created["path"].as_str().unwrap();
    let restored = sandbox.run(["backup", "restore", path, "--into", "copy", "--yes"]);
    assert_eq!(restored.status, Some(0), "{restored:?}");
    assert_eq!(sandbox.run(["show", "falcon", "--workspace", "copy"]).status, Some(0));
}

#[test]
fn a_backup_that_was_changed_ends_with_a_status() {
    let sandbox = Sandbox::new();
    sandbox.run(["add", "falcon"]);
    let created = sandbox.run(["backup", "create", "--format", "jsonl", "--json"]).json();
    let path = created["path"].as_str().unwrap().to_owned();
    fs::write(format!("{path}/uses.jsonl"), "{}\n").unwrap();
    let verified = sandbox.run(["backup", "verify", &path]);
    assert_eq!(verified.status, Some(1), "{verified:?}");
    assert!(verified.stdout.contains("`uses.jsonl`"), "{verified:?}");
}

#[test]
fn doctor_says_what_to_do_about_a_damaged_sqlite_file_and_that_works() {
    let sandbox = Sandbox::new();
    sandbox.run(["add", "falcon", "--name", "falcon"]);
    let backup = sandbox.run(["backup", "create", "--json"]).json()["backup_id"].as_str().unwrap().to_owned();
    let whole = fs::read(sandbox.sqlite_file()).unwrap();
    let mut bytes = whole.clone();
    let length = bytes.len();
    bytes[4096..length].fill(0xAB);
    fs::write(sandbox.sqlite_file(), &bytes).unwrap();
    let outcome = sandbox.run(["doctor"]);
    assert_ne!(outcome.status, Some(0), "{outcome:?}");
    assert!(outcome.stderr.contains(&format!("rootset backup restore {backup}")), "{outcome:?}");
    assert!(outcome.stderr.contains("rootset doctor --salvage"), "{outcome:?}");
    let mut away = sandbox.sqlite_file().into_os_string();
    away.push(".damaged");
    fs::rename(sandbox.sqlite_file(), away).unwrap();
    let restored = sandbox.run(["backup", "restore", &backup, "--yes"]);
    assert_eq!(restored.status, Some(0), "{restored:?}");
    assert_eq!(sandbox.run(["show", "falcon"]).status, Some(0));
}

#[test]
fn what_is_left_of_a_sqlite_file_is_salvaged_and_restored() {
    let sandbox = Sandbox::new();
    sandbox.run(["add", "falcon", "--name", "falcon"]);
    let salvaged = sandbox.run(["doctor", "--salvage", "saved", "--json"]);
    assert_eq!(salvaged.status, Some(0), "{salvaged:?}");
    let path = salvaged.json()["path"].as_str().unwrap().to_owned();
    assert_eq!(sandbox.run(["backup", "restore", &format!("./{path}"), "--yes", "--db", "new.db"]).status, Some(0));
    assert_eq!(sandbox.run(["show", "falcon", "--db", "new.db"]).status, Some(0));
    assert_eq!(sandbox.run(["doctor", "--db", "new.db"]).status, Some(0));
}

#[test]
fn disk_that_runs_full_leaves_no_half_backup() {
    let sandbox = Sandbox::new();
    let words: Vec<String> = (0..20_000).map(|number| format!("word{number}")).collect();
    let request = serde_json::json!({"text": words.join(" "), "name": "large"}).to_string();
    assert_eq!(sandbox.run_with_input(["call", "add_memory", "-"], request).status, Some(0));
    // No file may grow past this, as if the disk ended there; the signal that comes with it is ignored.
    let script = "trap '' XFSZ; ulimit -f 128; exec \"$0\" backup create --json";
    let output = std::process::Command::new("bash")
        .args(["-c", script, env!("CARGO_BIN_EXE_rootset")])
        .env_clear()
        .envs(sandbox.variables())
        .current_dir(sandbox.work())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert_eq!(sandbox.call("backup_list", "{}")["total"], 0);
    assert_eq!(sandbox.run(["backup", "create"]).status, Some(0));
    assert_eq!(sandbox.call("backup_list", "{}")["total"], 1);
}
