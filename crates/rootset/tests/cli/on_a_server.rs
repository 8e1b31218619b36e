//! A database on a PostgreSQL server, as far as it shows to a person: what is said and written about it. A password is
//! never part of that.

use rootset_testing::OwnedDatabase;

use crate::sandbox::{Outcome, Sandbox, outcome};

const URL: &str = "postgres://ann:hunter2@db.example/memory";

#[track_caller]
fn refused(outcome: &Outcome, says: &str, hint: &str) {
    assert_eq!(outcome.status, Some(1), "{outcome:?}");
    assert!(outcome.stderr.contains(says), "`{says}` is not in {outcome:?}");
    assert!(outcome.stderr.contains(hint), "`{hint}` is not in {outcome:?}");
    keeps_the_secret(outcome);
}

#[track_caller]
fn keeps_the_secret(outcome: &Outcome) {
    assert!(!outcome.stdout.contains("hunter2") && !outcome.stderr.contains("hunter2"), "{outcome:?}");
}

/// Without the database that the run is about.
fn with_own_settings(sandbox: &Sandbox, arguments: &[&str]) -> Outcome {
    outcome(sandbox.command().env_remove("ROOTSET_DB").env_remove("ROOTSET_BACKUP__DIR").args(arguments))
}

#[test]
fn settings_are_shown_without_the_password() {
    let sandbox = Sandbox::new();
    let shown = sandbox.run_with_variables(&[("ROOTSET_DB", URL)], ["config", "show", "--json"]);
    keeps_the_secret(&shown);
    let settings = &shown.json()["settings"];
    assert_eq!(settings["db"]["value"], "postgres://ann@db.example/memory");
    assert_eq!(settings["backup.interval"]["value"], "off", "whoever runs a server takes its backups");
    assert_eq!(settings["postgres.pool_size"]["value"], 8);
    let of_a_file = with_own_settings(&sandbox, &["config", "show", "--json", "--db", "one.db"]).json();
    assert_eq!(of_a_file["settings"]["backup.interval"]["value"], "24h");
}

#[test]
fn a_file_that_is_no_toml_is_refused_without_the_password_in_it() {
    let sandbox = Sandbox::new();
    sandbox.write("mine.toml", format!("workspace = \"x\"\ndb = \"{URL}\n"));
    refused(&with_own_settings(&sandbox, &["list", "--config", "mine.toml"]), "is not TOML", "line 2");
}

#[test]
fn scheduled_backups_of_a_server_need_a_folder() {
    let sandbox = Sandbox::without_server();
    sandbox.write("mine.toml", format!("db = \"{URL}\"\n[backup]\ninterval = \"24h\"\n"));
    let show = ["config", "show", "--config", "mine.toml"];
    refused(&with_own_settings(&sandbox, &show), "which needs `backup.dir`", "`off`");
    sandbox.write("mine.toml", format!("db = \"{URL}\"\n[backup]\ninterval = \"24h\"\ndir = \"backups\"\n"));
    assert_eq!(with_own_settings(&sandbox, &show).status, Some(0));
}

#[test]
fn no_password_is_written_into_the_configuration_of_an_agent() {
    let sandbox = Sandbox::new();
    for url in [URL, "postgres://db.example/memory?user=ann&password=hunter2"] {
        let outcome = sandbox.run(["install", "cursor", "--yes", "--db", url]);
        refused(&outcome, "would contain the password", "`ROOTSET_DB`");
    }
    let home = sandbox.work().with_file_name("home");
    assert!(!home.join(".cursor/mcp.json").exists());
    let without = "postgres://ann@db.example/memory?sslmode=require";
    let outcome = sandbox.run(["install", "cursor", "--yes", "--db", without]);
    assert_eq!(outcome.status, Some(0), "{outcome:?}");
    let written = std::fs::read_to_string(home.join(".cursor/mcp.json")).unwrap();
    assert!(written.contains(without), "{written}");
}

#[test]
fn only_a_file_can_be_salvaged() {
    let sandbox = Sandbox::new();
    let outcome = sandbox.run(["doctor", "--salvage", "left", "--db", URL]);
    refused(&outcome, "`postgres://ann@db.example/memory` is on a server", "its own");
    assert!(!sandbox.work().join("left").exists());
}

/// Port 1 is nobody's: a connection is refused at once.
#[test]
fn a_server_that_does_not_answer_is_one_line_and_a_hint() {
    let sandbox = Sandbox::new();
    for url in ["postgres://ann:hunter2@127.0.0.1:1/memory", "postgres://ann:hunter2?hunter2@127.0.0.1:1/memory"] {
        let outcome = sandbox.run_with_variables(&[("ROOTSET_DB", url)], ["list"]);
        assert!(outcome.status.is_some_and(|status| status > 0), "{outcome:?}");
        assert_eq!(outcome.stderr.lines().count(), 2, "{outcome:?}");
        assert!(outcome.stderr.contains("\nhint: "), "{outcome:?}");
        keeps_the_secret(&outcome);
    }
    let outcome = sandbox.run(["call", "list_memories", "--db", "postgres://ann:hunter2@127.0.0.1:1/memory"]);
    assert_eq!((outcome.status, outcome.error_code().as_str()), (Some(2), "busy"), "another try may succeed");
    keeps_the_secret(&outcome);
    assert!(!sandbox.has_database());
}

#[test]
fn a_url_that_cannot_be_understood_is_refused_without_its_password() {
    let sandbox = Sandbox::new();
    for (url, says) in [
        ("postgres://ann:hunter2@db.example:port/memory", "`port`"),
        ("postgres://ann:hunter2@db.example/memory?frobnicate=1", "`frobnicate`"),
    ] {
        refused(&sandbox.run_with_variables(&[("ROOTSET_DB", url)], ["list"]), says, "`%40`");
    }
}

#[test]
fn an_embedder_without_pgvector_is_said_once_with_what_to_do() {
    let owned = OwnedDatabase::new();
    let sandbox = Sandbox::new();
    // No model is asked for anything here.
    sandbox.write("mine.toml", "[embed]\nprovider = \"openai\"\nbase_url = \"http://127.0.0.1:9\"\nmodel = \"m\"\n");
    let stats = |arguments: &[&str]| {
        let url = owned.url();
        let outcome = outcome(sandbox.command().args(["stats", "--db", &url]).args(arguments));
        assert_eq!(outcome.status, Some(0), "{outcome:?}");
        outcome.stderr
    };
    let said = stats(&["--config", "mine.toml"]);
    assert_eq!(said.matches("has no pgvector").count(), 1, "{said}");
    assert!(said.contains("hint: `CREATE EXTENSION vector`"), "{said}");
    assert!(!stats(&[]).contains("pgvector"), "nobody asked for vectors");
    owned.database.execute_raw("CREATE EXTENSION vector");
    assert!(!stats(&["--config", "mine.toml"]).contains("pgvector"));
}
