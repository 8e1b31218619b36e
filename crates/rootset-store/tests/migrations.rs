//! A small database of every landed schema is opened by the program of today: nothing is lost, nothing becomes garbage.
//!
//! The fixtures were written by the program of their time and are never rewritten.

use std::path::{Path, PathBuf};

use rootset_gc::context::SegmentState;
use rootset_model::{Limits, Timestamp};
use rootset_store::{
    Arrival, NewWorkspace, ProjectFacts, Related, RelatedBy, SCHEMA_VERSION, Stamp, StashFilters, Store, StoreError,
    TokenReference,
};
use rootset_testing::temporary_folder;

const DAY_MS: i64 = 24 * 3_600_000;

fn fixtures() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let entries = std::fs::read_dir(folder).expect("the folder of fixtures");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("readable").path()).collect();
    paths.sort();
    paths
}

#[test]
fn there_is_a_fixture_of_every_schema_of_sqlite() {
    let names: Vec<String> =
        fixtures().iter().map(|path| path.file_name().expect("a name").to_string_lossy().into_owned()).collect();
    let wanted: Vec<String> = (1..=SCHEMA_VERSION).map(|version| format!("schema-{version:04}.db")).collect();
    assert_eq!(names, wanted);
}

#[test]
fn every_fixture_of_sqlite_opens_with_all_it_holds() {
    for fixture in fixtures() {
        let folder = temporary_folder();
        let path = folder.path().join("copy.db");
        std::fs::copy(&fixture, &path).expect("a copy");
        let store = Store::open_sqlite(&path).expect("the fixture opens");
        let broken: Vec<_> = store.check().expect("checks").into_iter().filter(|check| !check.is_ok()).collect();
        assert!(broken.is_empty(), "{}: {broken:?}", fixture.display());

        let workspace = store.workspace("default").expect("the default workspace");
        let full = store.full_memory(&workspace, "falcon-deploy", None).expect("a memory");
        assert_eq!(full.content.context, "Project Falcon uses PostgreSQL. Alice owns scripts/deploy.sh.");
        assert_eq!(full.row.revision, 2);
        store.full_memory(&workspace, "falcon-deploy", Some(1)).expect("its earlier revision");
        let (falcon, relations) =
            store.entity(&workspace, "Project Falcon", Timestamp(i64::MAX)).expect("a shared entity");
        assert_eq!((falcon.refcount, relations.len()), (2, 2));
        let (trash, _) = store.list_trash(&workspace, 0, 10).expect("the trash");
        let memories = trash.iter().filter(|item| item.kind == "memory");
        assert_eq!(memories.map(|item| item.name.as_deref()).collect::<Vec<_>>(), [Some("gone")]);
        assert!(store.workspace("other").is_ok());
        let plans = store.undoable_runs(&workspace, 10).expect("runs");
        let plan = plans.iter().find_map(|run| run.plan).expect("a run with a plan");
        store.plan(&workspace, plan, &Limits::default(), 0, 10).expect("the plan");
    }
}

#[test]
fn personal_memory_of_the_fifteenth_schema_of_sqlite_opens_with_all_it_holds() {
    let folder = temporary_folder();
    let path = folder.path().join("copy.db");
    std::fs::copy(&fixtures()[14], &path).expect("a copy");
    let store = Store::open_sqlite(&path).expect("the fixture opens");
    let personal = store.personal_workspace("@local").expect("a read").expect("a personal workspace");
    assert_eq!((personal.id.as_str(), personal.person.as_deref()), ("personal", Some("@local")));
    let full = store.full_memory(&personal, "prefers-tabs", None).expect("a memory");
    assert_eq!((full.content.context.as_str(), full.shown_count), ("I use tabs in Go files.", 0));
}

#[test]
fn former_names_and_keys_of_the_seventeenth_schema_of_sqlite_lead_to_their_memory() {
    let folder = temporary_folder();
    let path = folder.path().join("copy.db");
    std::fs::copy(&fixtures()[16], &path).expect("a copy");
    let store = Store::open_sqlite(&path).expect("the fixture opens");
    let workspace = store.workspace("default").expect("the default workspace");
    let memory = store.memory(&workspace, "project-falcon-uses-mysql").expect("a former name");
    assert_eq!(memory.name.as_deref(), Some("falcon-deploy"));
    assert_eq!(store.memory_with_key(&workspace, "falcon/deploy").expect("a read"), Some(memory.id));
}

#[test]
fn indexed_files_of_the_third_schema_of_sqlite_open_with_all_they_hold() {
    let folder = temporary_folder();
    let path = folder.path().join("copy.db");
    std::fs::copy(&fixtures()[2], &path).expect("a copy");
    let store = Store::open_sqlite(&path).expect("the fixture opens");
    let workspace = store.workspace("default").expect("the default workspace");
    let (repo, files) = store.file_states(&workspace, "web").expect("a read").expect("a repository");
    assert_eq!((repo.run, repo.root.as_str()), (2, "/home/somebody/web"));
    let states: Vec<_> = files.iter().map(|file| (file.path.as_str(), file.is_stale)).collect();
    assert_eq!(states, [("src/app.py", false), ("src/gone.py", true), ("src/util.py", false)]);
    let now = Timestamp(1_800_000_200_000);
    let symbols = store.symbols_named(&workspace, &["helper".into()], Some("web"), now).expect("symbols");
    assert_eq!(symbols[0].qualified_name, "src.util.helper");
    let callers = store.references_holding(&workspace, "helper", None, 10, now).expect("references");
    let calls: Vec<_> = callers.iter().map(|it| (it.path.as_str(), it.references.calls.len())).collect();
    assert_eq!(calls, [("src/app.py", 1), ("src/util.py", 0)]);
}

#[test]
fn sessions_of_the_fourth_schema_of_sqlite_open_with_all_they_hold() {
    let folder = temporary_folder();
    let path = folder.path().join("copy.db");
    std::fs::copy(&fixtures()[3], &path).expect("a copy");
    let store = Store::open_sqlite(&path).expect("the fixture opens");
    let workspace = store.workspace("default").expect("the default workspace");
    let session = store.load_session(&workspace, "morning", None).expect("a read").expect("a session");
    assert_eq!(session.state.settings, r#"{"budget_tokens":1000}"#);
    let states: Vec<_> = session.segments.iter().map(|row| (row.segment_id.as_str(), row.state)).collect();
    use SegmentState::{Active, Deleted, Stashed};
    assert_eq!(states, [("first", Active), ("second", Stashed), ("third", Deleted), ("fourth", Active)]);
    assert_eq!((session.segments[0].names.as_slice(), session.segments[0].tokens), ([7, 1 << 60].as_slice(), 6));
    let texts = store.segment_texts(&workspace, &[session.segments[0].segment]).expect("a text");
    assert_eq!((texts[0].text.as_str(), texts[0].raw.as_deref()), ("deploy the falcon", Some(r#"{"role":"user"}"#)));
    let hits = store.search_stash(&workspace, &["owl".into()], &StashFilters::default(), 10).expect("a search");
    assert_eq!(hits.iter().map(|hit| hit.segment_id.as_str()).collect::<Vec<_>>(), ["second"]);
    assert_eq!(store.ledger(&workspace, session.head.session, 0, 10).expect("a ledger").1, 3);
    let away = store.load_session(&workspace, "evening", None);
    assert!(matches!(away, Err(StoreError::SessionTrashed { .. })), "{away:?}");
}

#[test]
fn tokens_of_the_fifth_schema_of_sqlite_open_with_all_they_hold() {
    let folder = temporary_folder();
    let path = folder.path().join("copy.db");
    std::fs::copy(&fixtures()[4], &path).expect("a copy");
    let store = Store::open_sqlite(&path).expect("the fixture opens");
    let stamp = Stamp::new(Timestamp(1_800_000_500_000), "test");
    let (living, total) = store.list_tokens(false, 0, 10, stamp).expect("a list");
    let names: Vec<&str> = living.iter().map(|token| token.name.as_str()).collect();
    assert_eq!((names.as_slice(), total), (["old", "reader"].as_slice(), 2));
    let reader = &living[1];
    assert_eq!(reader.scopes, ["read"]);
    let bound: Vec<(&str, i64)> = reader.workspaces.iter().flatten().map(|it| (it.id.as_str(), it.key.0)).collect();
    assert_eq!(bound, [("home", 1), ("other", 2)]);
    assert_eq!(reader.expires_at, Some(Timestamp(1_893_456_000_000)));
    assert_eq!((living[0].workspaces.as_ref(), living[0].revoked_at), (None, None));
    let (all, _) = store.list_tokens(true, 0, 10, stamp).expect("a list");
    assert_eq!(all.iter().filter(|token| token.revoked_at.is_some()).count(), 1);
}

#[test]
fn tokens_of_the_tenth_schema_of_sqlite_are_bound_to_the_numbers_of_their_workspaces() {
    let folder = temporary_folder();
    let path = folder.path().join("copy.db");
    std::fs::copy(&fixtures()[9], &path).expect("a copy");
    let raw = rusqlite::Connection::open(&path).expect("the same file");
    raw.execute_batch(
        "INSERT INTO tokens (token_id, name, secret_hash, scopes, workspaces, created_at, created_by)
         VALUES (x'01010101010101010101010101010101', 'both', x'01', 'read', 'gone other default', 0, 'cli'),
                (x'02020202020202020202020202020202', 'lost', x'02', 'read', 'gone', 0, 'cli');",
    )
    .expect("what a database of that time may hold");
    drop(raw);
    let store = Store::open_sqlite(&path).expect("the fixture opens");
    let stamp = Stamp::new(Timestamp(1_800_000_500_000), "test");
    let bound = |name: &str| -> Vec<(String, i64)> {
        let token = store.token(TokenReference::Name(name), stamp).expect("a token");
        token.workspaces.expect("some").into_iter().map(|it| (it.id, it.key.0)).collect()
    };
    assert_eq!(bound("both"), [("home".to_owned(), 1), ("other".to_owned(), 2)]);
    // A workspace that takes the name later is none of the token's.
    let gone = NewWorkspace { id: "gone".to_owned(), ..NewWorkspace::default() };
    store.create_workspace(&gone, stamp).expect("a workspace");
    assert_eq!(bound("lost"), []);
}

#[test]
fn numbers_of_the_fifth_schema_of_sqlite_leave_the_table_of_bytes() {
    let folder = temporary_folder();
    let path = folder.path().join("copy.db");
    std::fs::copy(&fixtures()[4], &path).expect("a copy");
    let raw = rusqlite::Connection::open(&path).expect("the same file");
    raw.execute_batch(
        "UPDATE meta SET value = 7 WHERE key = 'purged_chunks';
         INSERT INTO meta (key, value) VALUES ('counters/4', '5 6'), ('counters/11', '5 6 7 8'),
                                              ('compaction/1/memories', 0), ('compaction/1/code', 1);
         INSERT INTO erasures (workspace, erasure, at, actor, cause) VALUES (11, x'01', 0, 'test', 'purge_workspace');",
    )
    .expect("what a database of that time may hold");
    drop(raw);
    drop(Store::open_sqlite(&path).expect("the fixture opens"));
    let raw = rusqlite::Connection::open(&path).expect("the same file");
    let lines = |sql: &str| -> Vec<String> {
        let mut statement = raw.prepare(sql).expect("a statement");
        let lines = statement.query_map([], |row| row.get(0)).expect("rows");
        lines.collect::<Result<_, _>>().expect("texts")
    };
    assert_eq!(lines("SELECT name || ' ' || value FROM counters"), ["purged_chunks 7", "workspaces 11"]);
    let kept =
        "SELECT workspace || ': ' || next_number || ' ' || next_chunk || ' ' || next_session || ' ' || next_segment
                FROM kept_counters ORDER BY workspace";
    assert_eq!(lines(kept), ["4: 5 6 1 1", "11: 5 6 7 8"]);
    assert_eq!(
        lines("SELECT key || ' ' || typeof(value) || ' ' || hex(value) FROM meta WHERE key <> 'erasure_key'"),
        ["compaction/1/code blob 31", "compaction/1/memories blob 30"]
    );
}

#[test]
fn a_workspace_that_the_sixth_schema_of_sqlite_has_lost_gives_its_number_to_no_other() {
    let folder = temporary_folder();
    let path = folder.path().join("copy.db");
    std::fs::copy(&fixtures()[5], &path).expect("a copy");
    let store = Store::open_sqlite(&path).expect("the fixture opens");
    let stamp = Stamp::new(Timestamp(1_800_000_500_000), "test");
    let new = NewWorkspace { id: "new".to_owned(), ..NewWorkspace::default() };
    assert_eq!(store.create_workspace(&new, stamp).expect("a workspace").key.0, 4);
    assert!(matches!(store.create_workspace(&new, stamp), Err(StoreError::WorkspaceExists { .. })));
    let another = NewWorkspace { id: "another".to_owned(), ..NewWorkspace::default() };
    assert_eq!(store.create_workspace(&another, stamp).expect("a workspace").key.0, 5);
}

#[test]
fn what_the_sixth_schema_of_sqlite_holds_has_to_be_seen_for_a_while() {
    let folder = temporary_folder();
    let path = folder.path().join("copy.db");
    std::fs::copy(&fixtures()[5], &path).expect("a copy");
    let raw = rusqlite::Connection::open(&path).expect("the same file");
    raw.execute_batch(
        "INSERT INTO erasures (workspace, erasure, at, actor, cause) VALUES
             (1, x'01', 0, 'housekeeping', 'delete_memory'), (1, x'02', 0, 'cli', 'forget');",
    )
    .expect("what a database of that time may hold");
    let last_write: i64 =
        raw.query_row("SELECT MAX(last_write_at) FROM workspaces", [], |row| row.get(0)).expect("a time");
    drop(raw);
    let mut store = Store::open_sqlite(&path).expect("the fixture opens");
    let wall = last_write + 60 * DAY_MS;
    store.set_wall(std::sync::Arc::new(move || Timestamp(wall)));
    let clock = store.observe().expect("a look at the clock");
    assert_eq!((clock.observed_ms, clock.is_in_doubt()), (DAY_MS, true), "it was last used sixty days ago");
    assert_eq!(store.trash_past_grace(0, Timestamp(wall)).expect("the trash"), [], "nothing goes while in doubt");
    let raw = rusqlite::Connection::open(&path).expect("the same file");
    let number = |sql: &str| -> i64 { raw.query_row(sql, [], |row| row.get(0)).expect("a number") };
    assert_eq!(number("SELECT COUNT(*) FROM memories WHERE ingested_observed_ms <> 0"), 0);
    assert_eq!(number("SELECT COUNT(*) FROM runs WHERE observed_ms <> 0"), 0);
    assert_eq!(number("SELECT COUNT(*) FROM erasures WHERE class = 'removed'"), 1);
    assert_eq!(number("SELECT COUNT(*) FROM erasures WHERE class = 'erased' AND erasure = x'02'"), 1);
}

#[test]
fn sealed_rows_of_the_ninth_schema_of_sqlite_are_checked_and_older_ones_open() {
    let folder = temporary_folder();
    let path = folder.path().join("copy.db");
    std::fs::copy(&fixtures()[8], &path).expect("a copy");
    let store = Store::open_sqlite(&path).expect("the fixture opens");
    let broken = || {
        let checks = store.check().expect("checks").into_iter();
        checks.filter(|check| !check.is_ok()).flat_map(|check| check.found).collect::<Vec<_>>()
    };
    assert_eq!(broken(), Vec::<String>::new());
    let raw = rusqlite::Connection::open(&path).expect("the same file");
    let count = |sql: &str| raw.query_row(sql, [], |row| row.get::<_, i64>(0)).expect("a count");
    assert_eq!(count("SELECT COUNT(*) FROM memories WHERE seal IS NOT NULL AND name = 'sealed'"), 1);
    assert!(count("SELECT COUNT(*) FROM memories WHERE seal IS NULL") > 1);
    raw.execute("UPDATE revisions SET context = 'something else' WHERE seal IS NOT NULL", []).expect("a change");
    let found = broken();
    assert!(matches!(found.as_slice(), [one] if one.starts_with("revision 1 of memory")), "{found:?}");
}

#[test]
fn provenance_of_the_tenth_schema_of_sqlite_is_what_is_known_and_the_lower_of_two_answers() {
    let folder = temporary_folder();
    let path = folder.path().join("copy.db");
    std::fs::copy(&fixtures()[9], &path).expect("a copy");
    let raw = rusqlite::Connection::open(&path).expect("the same file");
    // An agent that called itself `cli`, a client, a token, and a file of another program.
    for (number, (name, source, written_by)) in [
        ("liar", "agent", "cli"),
        ("client", "agent", "claude-code"),
        ("token", "user", "some-token"),
        ("own-word", "meeting", "claude-code"),
        ("other-program", "server-memory", "cli"),
    ]
    .into_iter()
    .enumerate()
    {
        raw.execute(
            "INSERT INTO memories (workspace, memory, sequence, name, source, written_by, status, version, revision, created_at,
                                   updated_at, ingested_at, pinned)
             VALUES (1, ?1, ?2, ?3, ?4, ?5, 'complete', 1, 1, 0, 0, 0, 1)",
            rusqlite::params![[number as u8 + 1; 16], 1_000 + number as i64, name, source, written_by],
        )
        .expect("a row of that time");
    }
    drop(raw);
    drop(Store::open_sqlite(&path).expect("the fixture opens"));
    let raw = rusqlite::Connection::open(&path).expect("the same file");
    let mut statement = raw
        .prepare("SELECT COALESCE(name, file_path), channel, trust, COALESCE(pinned_by, '-') FROM memories ORDER BY 1")
        .expect("a statement");
    let read = |row: &rusqlite::Row<'_>| -> rusqlite::Result<String> {
        let words: [String; 4] = [row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?];
        Ok(words.join(" "))
    };
    let rows: Vec<String> = statement.query_map([], read).expect("rows").collect::<Result<_, _>>().expect("texts");
    let expected = [
        "client mcp agent agent",
        "falcon-cache cli person person",
        "falcon-deploy cli agent -",
        "gone cli person -",
        "liar mcp agent agent",
        "other-program import imported agent",
        "own-word mcp agent agent",
        "sealed cli person -",
        "src/app.py index imported -",
        "src/gone.py index imported -",
        "src/util.py index imported -",
        "token http agent agent",
    ];
    assert_eq!(rows, expected);
}

/// A database from when agents named workspaces after folders: memories in the one that always existed, in one that was named
/// after a folder, and one that has the name that the first has today.
fn database_of_folder_names(path: &Path) {
    std::fs::copy(&fixtures()[14], path).expect("a copy");
    let raw = rusqlite::Connection::open(path).expect("the same file");
    raw.execute_batch(
        "INSERT INTO workspaces (workspace, workspace_id, created_at, last_write_at) VALUES (20, 'api', 1, 1), (21, 'home', 1, 1),
                                                                                      (22, 'linked', 1, 1);
         UPDATE counters SET value = 22 WHERE name = 'workspaces';
         INSERT INTO tokens (token_id, name, secret_hash, scopes, workspaces, created_at, created_by)
         VALUES (x'01010101010101010101010101010101', 'robot', x'01', 'read', ' 1 21 ', 0, 'cli');
         INSERT INTO meta (key, value) VALUES ('folder//src/linked', CAST('22' AS BLOB)), ('folder//src/gone', CAST('99' AS BLOB));",
    )
    .expect("what a database of that time may hold");
}

#[test]
fn the_fifteenth_schema_of_sqlite_keeps_every_workspace_under_a_name_that_finds_it() {
    let folder = temporary_folder();
    let path = folder.path().join("copy.db");
    database_of_folder_names(&path);
    let store = Store::open_sqlite(&path).expect("the fixture opens");
    let key = |id: &str| store.workspace(id).expect("a workspace").key.0;
    assert_eq!((key("home"), key("default"), key("home-2"), key("api")), (1, 1, 21, 20));
    let home = store.workspace("home").expect("it always exists");
    store.full_memory(&home, "falcon-deploy", None).expect("a memory from before");
    let stamp = Stamp::new(Timestamp(1_800_000_500_000), "test");
    let token = store.token(TokenReference::Name("robot"), stamp).expect("a token");
    let bound: Vec<(String, i64)> = token.workspaces.expect("some").into_iter().map(|it| (it.id, it.key.0)).collect();
    assert_eq!(bound, [("home".to_owned(), 1), ("home-2".to_owned(), 21)]);
    let again = NewWorkspace { id: "default".to_owned(), ..NewWorkspace::default() };
    assert!(matches!(store.create_workspace(&again, stamp), Err(StoreError::WorkspaceExists { .. })));
}

fn facts(path: &str, slug: &str) -> ProjectFacts {
    ProjectFacts {
        places: vec![format!("{path}/.git"), path.to_owned()],
        path: path.to_owned(),
        slug: slug.to_owned(),
        remote: None,
        root_commit: None,
        looked_at: Timestamp(0),
    }
}

#[test]
fn workspaces_of_folder_names_are_claimed_by_what_is_indexed_in_them_and_by_nothing_else() {
    let folder = temporary_folder();
    let path = folder.path().join("copy.db");
    database_of_folder_names(&path);
    let store = Store::open_sqlite(&path).expect("the fixture opens");
    let stamp = Stamp::new(Timestamp(1_800_000_500_000), "test");
    // A folder that was linked before stays linked.
    let (known, arrival) = store.note_project(&facts("/src/linked", "linked"), stamp).expect("a note");
    assert_eq!((known.workspace.id.as_str(), arrival), ("linked", Arrival::Known));
    // Nothing is indexed there: it may be anybody's.
    let (known, arrival) = store.note_project(&facts("/other/api", "api"), stamp).expect("a note");
    let related = Related { workspace_id: "api".to_owned(), by: RelatedBy::Name };
    assert_eq!((known.workspace.id.as_str(), arrival, known.related), ("api-2", Arrival::Created, Some(related)));
    drop(store);
    let raw = rusqlite::Connection::open(&path).expect("the same file");
    let repo = "INSERT INTO repos (workspace, repo, root, run, scope, created_at) VALUES (20, ?1, ?2, 1, '{}', 0)";
    raw.execute(repo, ["api", "/mine/api"]).expect("a repository");
    drop(raw);
    let store = Store::open_sqlite(&path).expect("the fixture opens");
    let (known, arrival) = store.note_project(&facts("/third/api", "api"), stamp).expect("a note");
    assert_eq!((known.workspace.id.as_str(), arrival), ("api-3", Arrival::Created));
    let (known, arrival) = store.note_project(&facts("/mine/api", "api"), stamp).expect("a note");
    assert_eq!((known.workspace.id.as_str(), arrival), ("api", Arrival::Claimed));
    // It is somebody's now.
    let (known, _) = store.note_project(&facts("/fourth/api", "api"), stamp).expect("a note");
    assert_eq!((known.workspace.id.as_str(), known.related), ("api-4", None));
    let (known, arrival) = store.note_project(&facts("/mine/api", "api"), stamp).expect("a note");
    assert_eq!((known.workspace.id.as_str(), arrival), ("api", Arrival::Known));
    let broken: Vec<_> = store.check().expect("checks").into_iter().filter(|check| !check.is_ok()).collect();
    assert!(broken.is_empty(), "{broken:?}");
}
