//! Paths that are no database, databases that are not ours to use, and files that cannot be written.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use crate::sandbox::{Outcome, Sandbox};

#[track_caller]
fn refused(outcome: &Outcome, code: &str, says: &str) {
    assert_eq!(outcome.status, Some(1), "{outcome:?}");
    assert_eq!(outcome.error_code(), code, "{outcome:?}");
    let message = outcome.json()["error"]["message"].as_str().unwrap_or_default().to_owned();
    assert!(message.contains(says), "`{says}` is not in `{message}`");
}

#[test]
fn default_database_is_in_a_private_folder() {
    let sandbox = Sandbox::new();
    assert_eq!(sandbox.run(["list"]).status, Some(0));
    let folder = sandbox.sqlite_file().parent().unwrap().to_owned();
    assert_eq!(fs::metadata(folder).unwrap().permissions().mode() & 0o777, 0o700);
    let elsewhere = sandbox.work().join("data");
    let outcome = sandbox.run_with_variables(&[("XDG_DATA_HOME", elsewhere.to_str().unwrap())], ["list"]);
    assert_eq!(outcome.status, Some(0), "{outcome:?}");
    assert!(elsewhere.join("rootset/rootset.db").is_file());
}

#[test]
fn database_is_named_by_path_or_url() {
    let sandbox = Sandbox::new();
    sandbox.run(["add", "falcon", "--name", "falcon", "--db", "one.db"]);
    assert_eq!(sandbox.run(["show", "falcon", "--db", "sqlite:one.db"]).status, Some(0));
    assert_eq!(sandbox.run_with_variables(&[("ROOTSET_DB", "one.db")], ["show", "falcon"]).status, Some(0));
    assert!(!sandbox.has_database());
    for (db, says) in [
        ("postgres://", "`postgres://USER@HOST/DATABASE`"),
        ("mysql://host/db", "a path, `sqlite:PATH`, or"),
        (":memory:", "a path, `sqlite:PATH`, or"),
        ("", "a path, `sqlite:PATH`, or"),
        ("sqlite:", "a path, `sqlite:PATH`, or"),
        ("folder/", "a path, `sqlite:PATH`, or"),
    ] {
        let outcome = sandbox.run(["call", "list_memories", "--db", db]);
        refused(&outcome, "invalid_argument", says);
    }
}

#[test]
fn folder_that_does_not_exist_is_not_made() {
    let sandbox = Sandbox::new();
    let outcome = sandbox.run(["call", "list_memories", "--db", "nowhere/x.db"]);
    refused(&outcome, "invalid_argument", "the folder `nowhere` does not exist");
    refused(&sandbox.run(["call", "list_memories", "--db", "."]), "invalid_argument", "it is a folder");
}

#[test]
fn file_of_another_kind_is_left_alone() {
    let sandbox = Sandbox::new();
    let text =
        "this is a shopping list, and it is longer than a header of SQLite: milk, bread, eggs, butter, salt, tea";
    sandbox.write("list.txt", text);
    let outcome = sandbox.run(["call", "add_memory", r#"{"text": "x"}"#, "--db", "list.txt"]);
    refused(&outcome, "invalid_argument", "`list.txt` is not a Rootset database");
    assert_eq!(fs::read_to_string(sandbox.work().join("list.txt")).unwrap(), text);
}

#[test]
fn database_of_another_program_is_left_alone() {
    let sandbox = Sandbox::new();
    let path = sandbox.work().join("other.db");
    let other = rusqlite::Connection::open(&path).unwrap();
    other.execute_batch("CREATE TABLE songs (title TEXT); INSERT INTO songs VALUES ('x');").unwrap();
    drop(other);
    let before = fs::read(&path).unwrap();
    let outcome = sandbox.run(["call", "add_memory", r#"{"text": "x"}"#, "--db", "other.db"]);
    refused(&outcome, "invalid_argument", "it belongs to another program");
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn database_of_a_later_version_is_not_touched() {
    let sandbox = Sandbox::new();
    sandbox.run(["add", "falcon"]);
    let connection = sandbox.sql();
    connection.execute_batch("PRAGMA user_version = 99").unwrap();
    drop(connection);
    for operation in ["list_memories", "get_stats"] {
        refused(&sandbox.run(["call", operation]), "upgrade_required", "schema 99");
    }
}

#[test]
fn damaged_database_is_our_trouble_and_is_not_written() {
    let sandbox = Sandbox::new();
    sandbox.run(["add", "falcon"]);
    let mut bytes = fs::read(sandbox.sqlite_file()).unwrap();
    let length = bytes.len();
    bytes[4096..length].fill(0xAB);
    fs::write(sandbox.sqlite_file(), &bytes).unwrap();
    let outcome = sandbox.run(["call", "add_memory", r#"{"text": "eagle"}"#]);
    assert_eq!(outcome.status, Some(2), "{outcome:?}");
    assert_eq!(outcome.error_code(), "internal");
}

#[test]
fn reading_goes_on_while_another_process_writes() {
    let sandbox = Sandbox::new();
    sandbox.run(["add", "falcon", "--name", "falcon"]);
    let mut lock = sandbox.sqlite_file().into_os_string();
    lock.push(".lock");
    let held = fs::OpenOptions::new().write(true).open(lock).unwrap();
    held.lock().unwrap();
    assert_eq!(sandbox.run(["list"]).status, Some(0));
    assert_eq!(sandbox.run(["stats"]).status, Some(0));
    assert_eq!(sandbox.run(["gc", "explain", "falcon"]).status, Some(0));
}

#[test]
fn file_that_cannot_be_written_is_forbidden() {
    let sandbox = Sandbox::new();
    fs::create_dir(sandbox.work().join("shut")).unwrap();
    sandbox.run(["add", "falcon", "--db", "shut/x.db"]);
    let shut = sandbox.work().join("shut");
    fs::set_permissions(shut.join("x.db"), fs::Permissions::from_mode(0o444)).unwrap();
    fs::set_permissions(&shut, fs::Permissions::from_mode(0o555)).unwrap();
    let is_root = fs::write(shut.join("probe"), "x").is_ok();
    if is_root {
        eprintln!("SKIPPED: permissions do not bind this user (root); run the tests as somebody else to check this");
    } else {
        let outcome = sandbox.run(["call", "add_memory", r#"{"text": "eagle"}"#, "--db", "shut/x.db"]);
        refused(&outcome, "forbidden", "cannot be written");
    }
    fs::set_permissions(&shut, fs::Permissions::from_mode(0o755)).unwrap();
}

/// As somebody to whom permissions apply, which root is not.
fn as_nobody(sandbox: &Sandbox, arguments: &[&str]) -> Outcome {
    use std::os::unix::fs::MetadataExt;
    use std::os::unix::process::CommandExt;
    const NOBODY: u32 = 65_534;
    let mut command = Command::new(env!("CARGO_BIN_EXE_rootset"));
    command.env_clear().env("HOME", sandbox.work()).current_dir(sandbox.work()).args(arguments);
    if fs::metadata(sandbox.work()).is_ok_and(|it| it.uid() == 0) {
        command.uid(NOBODY).gid(NOBODY);
    }
    let output = command.output().expect("the program starts");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    Outcome { status: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
}

#[test]
fn a_database_that_can_only_be_read_is_read() {
    let sandbox = Sandbox::without_server();
    let is_reachable = |path: &std::path::Path| {
        path.ancestors().all(|it| fs::metadata(it).is_ok_and(|it| it.permissions().mode() & 0o001 != 0))
    };
    fs::set_permissions(sandbox.work().parent().unwrap(), fs::Permissions::from_mode(0o755)).unwrap();
    if !is_reachable(&sandbox.work()) || !is_reachable(std::path::Path::new(env!("CARGO_BIN_EXE_rootset"))) {
        eprintln!("SKIPPED: another user cannot reach the program or the temporary folder");
        return;
    }
    for (file, folder) in [(0o444, 0o755), (0o644, 0o555), (0o444, 0o555)] {
        let place = sandbox.work().join(format!("{file:o}-{folder:o}"));
        fs::create_dir(&place).unwrap();
        let database = place.join("x.db");
        let database = database.to_str().unwrap();
        sandbox.run(["add", "Falcon uses Redis", "--name", "falcon", "--db", database]);
        fs::set_permissions(database, fs::Permissions::from_mode(file)).unwrap();
        fs::set_permissions(&place, fs::Permissions::from_mode(folder)).unwrap();
        for arguments in [["list"].as_slice(), &["search", "redis"], &["show", "falcon"], &["stats"]] {
            let outcome = as_nobody(&sandbox, &[arguments, &["--db", database]].concat());
            assert_eq!(outcome.status, Some(0), "{outcome:?}");
            assert!(outcome.stdout.contains("falcon") || arguments == ["stats"], "{outcome:?}");
            assert!(!outcome.stderr.contains("WARN"), "{outcome:?}");
        }
        let outcome = as_nobody(&sandbox, &["call", "add_memory", r#"{"text": "eagle"}"#, "--db", database]);
        refused(&outcome, "forbidden", "read-only");
        assert!(outcome.stdout.contains("reading works"), "{outcome:?}");
        fs::set_permissions(&place, fs::Permissions::from_mode(0o755)).unwrap();
    }
}

#[test]
fn disk_that_runs_full_loses_nothing() {
    let sandbox = Sandbox::new();
    sandbox.run(["add", "falcon", "--name", "falcon"]);
    let size_kib = fs::metadata(sandbox.sqlite_file()).unwrap().len() / 1024;
    // No file may grow past this, as if the disk ended there; the signal that comes with it is ignored.
    let script = format!("trap '' XFSZ; ulimit -f {}; exec \"$0\" call add_memory -", size_kib + 64);
    let mut shell = Command::new("bash")
        .args(["-c", &script, env!("CARGO_BIN_EXE_rootset")])
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", sandbox.work().with_file_name("home"))
        .current_dir(sandbox.work())
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let words: Vec<String> = (0..60_000).map(|n| format!("word{n}")).collect();
    let request = serde_json::json!({"text": words.join(" "), "name": "large"}).to_string();
    std::io::Write::write_all(&mut shell.stdin.take().unwrap(), request.as_bytes()).unwrap();
    let output = shell.wait_with_output().unwrap();
    let stdout = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(2), "{stdout} {}", String::from_utf8_lossy(&output.stderr));
    assert!(stdout.contains(r#""code":"internal""#), "{stdout}");
    assert_eq!(sandbox.call("list_memories", "{}")["total"], 1);
    assert_eq!(sandbox.run(["doctor"]).status, Some(0));
    assert_eq!(sandbox.run(["show", "falcon"]).status, Some(0));
}
