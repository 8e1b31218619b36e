//! Memories of indexed files, as everything that touches memories sees them: trash, undo, purge, backups, doctor, graph.

use rootset_model::code::{Call, CodeChunk, Import, Outline, References, Symbol, SymbolKind};
use rootset_model::{MemoryId, Timestamp};
use rootset_store::driver::SearchIndex;
use rootset_store::{CodeFilters, CodeSearch, CompletedScan, FileStamp, NewFile, Stamp, Store, Work, Workspace};
use rootset_testing::TestEngine;
use serde_json::{Value, json};

use crate::harness::{World, array, names, text_of};

const REPO: &str = "web";
const NOW: Timestamp = Timestamp(i64::MAX / 2);

/// The store as a scanner uses it, beside the service.
struct Scanner {
    store: Store,
    workspace: Workspace,
    next: std::cell::Cell<u8>,
}

impl Scanner {
    fn on(world: &World) -> Self {
        Self::in_workspace(world, "home")
    }

    fn in_workspace(world: &World, workspace: &str) -> Self {
        world.call("get_stats", json!({}));
        let store = world.store();
        let workspace = store.workspace(workspace).unwrap();
        let stamp = Stamp::new(Timestamp(world.now_ms()), "cli");
        store.bind_repo(&workspace, REPO, "/web", false, stamp).unwrap();
        Self { store, workspace, next: 0.into() }
    }

    /// A file of two symbols: the module, and a function of that name that calls `helper`.
    fn add(&self, world: &World, path: &str, function: &str, body: &str) -> MemoryId {
        self.write(world, path, function, body, None)
    }

    fn write(&self, world: &World, path: &str, function: &str, body: &str, replaces: Option<MemoryId>) -> MemoryId {
        let stamp = Stamp::new(Timestamp(world.now_ms()), "cli");
        let (head, body) = ("import lib\n", format!("def {function}():\n  {body}\n"));
        let text = format!("{head}{body}");
        let middle = head.len() as u32;
        let module = path.replace('/', ".");
        let symbol = |name: &str, kind, parent, start| Symbol {
            name: name.to_owned(),
            qualified_name: if parent == Some(0) { format!("{module}.{name}") } else { module.clone() },
            kind,
            parent,
            start,
            end: text.len() as u32,
            first_line: 1,
            last_line: 3,
            signature: if parent == Some(0) { format!("def {name}()") } else { String::new() },
        };
        let outline = Outline {
            symbols: vec![
                symbol(&module, SymbolKind::Module, None, 0),
                symbol(function, SymbolKind::Function, Some(0), middle),
            ],
            chunks: vec![
                CodeChunk { symbol: Some(0), start: 0, end: middle },
                CodeChunk { symbol: Some(1), start: middle, end: text.len() as u32 },
            ],
            references: References {
                imports: vec![Import { target: "lib".into(), local: None, is_exported: false, line: 1 }],
                calls: vec![Call {
                    caller: 1,
                    name: body.trim().replace('\n', "_"),
                    receiver: None,
                    from: None,
                    line: 3,
                }],
                ..References::default()
            },
        };
        let words = |text: &str| text.to_lowercase().replace(['(', ')', ':', '\n'], " ");
        let terms = [(words(path), words(head)), (words(function), words(&body))];
        self.next.set(self.next.get() + 1);
        let mut memory = [0xF0; 16];
        memory[15] = self.next.get();
        let file = NewFile {
            memory: MemoryId(memory),
            replaces,
            path,
            stamp: FileStamp { size: text.len() as i64, ..FileStamp::default() },
            content_hash: [1; 16],
            extractor: 1,
            language: "python",
            is_test: false,
            is_mounted: false,
            is_generated: false,
            lines: 3,
            text: &text,
            outline: &outline,
            terms: &terms,
        };
        let work = Work { workspace: self.workspace.key, kind: "index", subject: [3; 16] };
        let lease = self.store.acquire_lease(work, stamp.now, 60_000).unwrap().unwrap();
        let run = self.store.repo(&self.workspace, REPO).unwrap().unwrap().run;
        let made = self.store.write_files(&self.workspace, &lease, 60_000, REPO, run + 1, &[file], stamp).unwrap();
        self.complete(world, Some(&lease), &[]);
        made[0].memory
    }

    fn complete(&self, world: &World, lease: Option<&rootset_store::Lease>, gone: &[MemoryId]) {
        let stamp = Stamp::new(Timestamp(world.now_ms()), "cli");
        let run = self.store.repo(&self.workspace, REPO).unwrap().unwrap().run;
        let scan = CompletedScan {
            repo: REPO,
            expected_run: run,
            run_id: [5; 16],
            scope: "{}",
            trusted_at: 0,
            lease,
            refreshed: &[],
            returned: &[],
            gone,
        };
        self.store.complete_scan(&self.workspace, &scan, &|_| unreachable!("nothing returns"), stamp).unwrap();
    }

    fn paths(&self) -> Vec<String> {
        let states = self.store.file_states(&self.workspace, REPO).unwrap();
        states.map_or_else(Vec::new, |(_, states)| states.into_iter().map(|it| it.path).collect())
    }

    /// Paths that a search for a term finds.
    fn found(&self, term: &str) -> Vec<String> {
        self.found_in(&self.workspace, term)
    }

    fn found_in(&self, workspace: &Workspace, term: &str) -> Vec<String> {
        let terms = [term.to_owned()];
        let search = CodeSearch { terms: &terms, filters: CodeFilters::default(), limit: 10, now: NOW };
        let rank = |candidates: &[_], _: &_| (0..<[_]>::len(candidates)).map(|place| (place, 1.0)).collect();
        let hits = self.store.search_code(workspace, &search, &rank).unwrap();
        let mut paths: Vec<String> = hits.into_iter().map(|hit| hit.candidate.path).collect();
        paths.sort();
        paths
    }
}

#[test]
fn a_trashed_file_is_unseen_and_undo_brings_it_back_unless_it_was_indexed_again() {
    let world = World::new();
    let scanner = Scanner::on(&world);
    let first = scanner.add(&world, "a.py", "one", "alpha");
    let run = world.delete(&first.to_string());
    assert_eq!((scanner.paths(), scanner.found("alpha")), (vec![], vec![]));
    assert_eq!(world.call("list_trash", json!({}))["items"][0]["topic"], "a.py");
    world.call("gc_undo", json!({ "run_id": run }));
    assert_eq!((scanner.paths(), scanner.found("alpha")), (vec!["a.py".to_owned()], vec!["a.py".to_owned()]));
    world.assert_doctor_is_content();

    let run = world.delete(&first.to_string());
    let second = scanner.add(&world, "a.py", "one", "beta");
    assert_ne!(second, first);
    let undone = world.call("gc_undo", json!({ "run_id": run }));
    assert_eq!(undone["restored"]["memories"], 0, "{undone}");
    assert_eq!(undone["conflicts"][0]["reason"], "path_taken");
    assert_eq!(undone["conflicts"][0]["by"], second.to_string());
    assert_eq!((scanner.paths().len(), scanner.found("alpha").len(), scanner.found("beta").len()), (1, 0, 1));
    world.assert_doctor_is_content();
}

#[test]
fn a_file_that_comes_back_while_its_path_is_written_gives_way() {
    let world = World::new();
    let scanner = Scanner::on(&world);
    let first = scanner.add(&world, "a.py", "one", "alpha");
    // To a scan that began before an undo, the path was free.
    scanner.add(&world, "a.py", "one", "beta");
    assert_eq!(scanner.found("alpha"), Vec::<String>::new());
    assert_eq!(scanner.found("beta"), ["a.py"]);
    let plan = world.call("gc_plan", json!({"strategies": ["stale_code"]}));
    assert_eq!(plan["items"][0]["id"], first.to_string());
    world.assert_doctor_is_content();
}

#[test]
fn a_purge_leaves_nothing_of_a_file_in_any_table_or_file() {
    const NEEDLES: [&str; 4] = ["qzvfilepath", "qzvfunction", "qzvbodyword", "zvbodywor"];
    let world = World::new();
    let scanner = Scanner::on(&world);
    scanner.add(&world, "other.py", "other", "nothing");
    let memory = scanner.add(&world, "qzvfilepath.py", "qzvfunction", "qzvbodyword");
    for needle in &NEEDLES[..3] {
        assert!(!world.places_with(needle.as_bytes()).is_empty(), "{needle}");
    }
    let run = world.delete(&memory.to_string());
    let purged = world.call("gc_purge", json!({"run_id": run, "confirm": true}));
    assert_eq!((&purged["purged"]["memories"], &purged["purged"]["chunks"]), (&json!(1), &json!(2)));
    assert_eq!(purged["receipt"]["byte_scan"], World::clean_scan());
    for needle in NEEDLES {
        assert_eq!(world.places_with(needle.as_bytes()), Vec::<String>::new(), "{needle}");
    }
    for table in ["files", "symbols", "code_references"] {
        let rows: i64 = world.sql().scalar(&format!("SELECT COUNT(*) FROM {table}"), &[]).unwrap();
        assert!(rows > 0 && rows <= 2, "{table} holds {rows}: the other file's");
    }
    assert_eq!(world.sql().search_rows(1, SearchIndex::Code).unwrap().len(), 2, "the other file's");
    assert_eq!(world.entities(), ["lib", "other.py", "other.py.other"]);
    world.assert_doctor_is_content();
}

#[test]
fn replaced_words_of_a_file_leave_the_database() {
    let world = World::new();
    let scanner = Scanner::on(&world);
    let memory = scanner.add(&world, "a.py", "qzvbefore", "qzvsecretword");
    scanner.write(&world, "a.py", "after", "harmless", Some(memory));
    drop(scanner);
    world.empty_log();
    for needle in ["qzvbefore", "qzvsecretword", "zvsecretwor"] {
        assert_eq!(world.places_with(needle.as_bytes()), Vec::<String>::new(), "{needle}");
    }
}

#[test]
fn a_purged_workspace_takes_its_repositories_along() {
    let world = World::new();
    world.call("create_workspace", json!({"workspace_id": "team"}));
    Scanner::in_workspace(&world, "team").add(&world, "a.py", "one", "alpha");
    let request = json!({"workspace_id": "team", "confirm_phrase": "DELETE team"});
    let run = text_of(&world.call("delete_workspace", request)["run_id"]);
    world.call("gc_purge", json!({"workspace_id": "team", "run_id": run, "confirm": true}));
    for table in ["repos", "files", "symbols", "code_references", "memories", "chunks", "entities"] {
        let rows: i64 = world.sql().scalar(&format!("SELECT COUNT(*) FROM {table}"), &[]).unwrap();
        assert_eq!(rows, 0, "{table}");
    }
    assert_eq!(world.sql().search_rows(2, SearchIndex::Code).unwrap(), []);
    if world.database.engine() == TestEngine::Sqlite {
        let left = "SELECT COUNT(*) FROM sqlite_schema WHERE name LIKE 'search_code%'";
        assert_eq!(world.sql().scalar::<i64>(left, &[]).unwrap(), 0);
    }
    world.assert_doctor_is_content();
}

#[test]
fn backups_of_every_kind_bring_files_back_also_into_another_workspace() {
    for format in World::backup_formats() {
        let world = World::new();
        let scanner = Scanner::on(&world);
        world.add_named("note", "FalconThing is a note.");
        let kept = scanner.add(&world, "a.py", "one", "alpha");
        let purged = scanner.add(&world, "b.py", "two", "beta");
        let backup = text_of(&world.call("backup_create", json!({ "format": format }))["backup_id"]);
        scanner.write(&world, "moved.py", "one", "changed", Some(kept));
        let run = world.delete(&purged.to_string());
        world.call("gc_purge", json!({"run_id": run, "confirm": true}));
        world.call("backup_restore", json!({"backup_id": backup, "confirm": true}));
        assert_eq!(scanner.paths(), ["a.py"], "{format}: what was purged stays purged");
        assert_eq!((scanner.found("alpha"), scanner.found("changed")), (vec!["a.py".to_owned()], vec![]));
        let references = scanner.store.references_of(&scanner.workspace, &[kept], NOW).unwrap();
        assert_eq!(references[0].references.imports[0].target, "lib");
        world.assert_doctor_is_content();

        let request =
            json!({"backup_id": backup, "workspace_id": "home", "into_workspace_id": "copy", "confirm": true});
        world.call("backup_restore", request);
        let copy = scanner.store.workspace("copy").unwrap();
        assert_eq!(scanner.found_in(&copy, "alpha"), ["a.py"]);
        assert_eq!(scanner.store.repo(&copy, REPO).unwrap().unwrap().root, "/web");
        assert_eq!(scanner.store.symbols_named(&copy, &["one".into()], Some(REPO), NOW).unwrap().len(), 1);
        world.assert_doctor_is_content();
    }
}

#[test]
fn salvaging_a_sqlite_file_leaves_files_to_the_next_scan() {
    let world = World::new();
    let scanner = Scanner::on(&world);
    world.add_named("note", "FalconThing is a note.");
    scanner.add(&world, "a.py", "one", "alpha");
    drop(scanner);
    world.sql().execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
    let folder = world.folder().join("salvaged");
    let now = Timestamp(world.now_ms());
    let salvaged = rootset_store::salvage(world.sqlite_file(), &folder, "20270115-080000-salvage", now).unwrap();
    assert_eq!((salvaged.damages, salvaged.incomplete), (0, 0));
    let fresh = World::new();
    fresh.call("backup_restore", json!({"backup_id": salvaged.backup.path.to_str().unwrap(), "confirm": true}));
    assert_eq!(fresh.found("FalconThing"), ["note"]);
    assert_eq!(Scanner::on(&fresh).paths(), Vec::<String>::new());
    fresh.assert_doctor_is_content();
}

#[test]
fn doctor_finds_what_is_wrong_with_files() {
    for (sql, check) in [
        ("DELETE FROM files", "I8.files"),
        ("UPDATE files SET path = 'elsewhere.py'", "I8.files"),
        ("DELETE FROM code_references", "I8.code"),
        ("DELETE FROM symbols WHERE ordinal = 1", "I8.code"),
        ("UPDATE symbols SET memory = x'00112233445566778899aabbccddeeff'", "I8.symbols"),
        ("DELETE FROM revisions", "I8.revisions"),
        ("UPDATE repos SET workspace = 77", "I6.workspaces"),
    ] {
        // What belongs to no workspace is nobody's under row-level security: no operation gets to see it.
        if check == "I6.workspaces" && !TestEngine::chosen().has_files() {
            continue;
        }
        let world = World::new();
        Scanner::on(&world).add(&world, "a.py", "one", "alpha");
        world.assert_doctor_is_content();
        world.sql().execute_batch(sql).unwrap();
        let found = world.complaints();
        assert!(found.contains(&check.to_owned()), "{sql}: {found:?}");
    }
    let world = World::new();
    Scanner::on(&world).add(&world, "a.py", "one", "alpha");
    world.sql().delete_search_rows(1, SearchIndex::Code, |key| key == 1).unwrap();
    world.sql().insert_search_row(1, SearchIndex::Code, 99, "ghost").unwrap();
    assert_eq!(world.complaints(), ["I8.search_missing", "I8.search_superfluous"]);
}

#[test]
fn repair_writes_full_text_of_code_anew_and_leaves_the_rest_to_the_next_scan() {
    let world = World::new();
    let scanner = Scanner::on(&world);
    let memory = scanner.add(&world, "a.py", "one", "alpha");
    world.sql().delete_search_rows(1, SearchIndex::Code, |_| true).unwrap();
    world.call("doctor", json!({"repair": true}));
    world.assert_doctor_is_content();
    assert_eq!(scanner.found("alpha"), ["a.py"]);

    world.sql().execute_batch("DELETE FROM files; DELETE FROM code_references").unwrap();
    world.call("doctor", json!({"repair": true}));
    let states = scanner.store.file_states(&scanner.workspace, REPO).unwrap().unwrap().1;
    assert_eq!((states[0].path.as_str(), states[0].extractor), ("a.py", -1));
    scanner.write(&world, "a.py", "one", "alpha", Some(memory));
    world.assert_doctor_is_content();
}

#[test]
fn symbols_are_entities_of_the_graph_but_not_of_searches_for_notes() {
    let world = World::new();
    let scanner = Scanner::on(&world);
    world.add_named("note", "The lib of FalconThing.");
    let memory = scanner.add(&world, "a.py", "one", "alpha");
    assert!(world.entities().contains(&"a.py.one".to_owned()));
    let found = world.call("search_memory", json!({"query": "a.py.one lib", "mode": "entities"}));
    assert!(!names(&found["results"]).iter().any(|name| name == "a.py.one" || name == "lib"), "{found}");
    let entity = world.entity("a.py.one");
    assert_eq!((&entity["type"], &entity["description"]), (&json!("function"), &json!("def one()")));
    let explained = |id: &Value| world.call("gc_explain", json!({ "id": id }));
    let of_symbol = explained(&entity["entity_id"]);
    assert_eq!((&of_symbol["alive"], &of_symbol["path"][0]), (&json!(true), &json!("memory a.py")));
    let of_file = explained(&json!(memory.to_string()));
    assert!(of_file["alive"] == true && text_of(&of_file["reason"]).contains("`web`"), "{of_file}");
    scanner.complete(&world, None, &[memory]);
    let of_file = explained(&json!(memory.to_string()));
    assert_eq!(of_file["alive"], false, "{of_file}");
    let stats = world.call("get_stats", json!({}));
    assert_eq!(stats["by_source"]["code_indexer"]["live"], 1);
}

#[test]
fn stale_files_are_planned_with_their_paths_and_reclaimed_with_all_that_is_theirs() {
    let world = World::new();
    let scanner = Scanner::on(&world);
    let memory = scanner.add(&world, "src/gone.py", "one", "alpha");
    scanner.add(&world, "src/there.py", "two", "beta");
    scanner.complete(&world, None, &[memory]);
    let plan = world.call("gc_plan", json!({"strategies": ["stale_code"]}));
    let item = &array(&plan["items"])[0];
    assert_eq!((&item["file_path"], &item["topic"]), (&json!("src/gone.py"), &json!("src/gone.py")));
    world.call("gc_apply", json!({"plan_id": plan["plan_id"]}));
    world.call("gc_purge", json!({"older_than": "0", "confirm": true}));
    assert_eq!(scanner.paths(), ["src/there.py"]);
    world.assert_doctor_is_content();
}

#[test]
fn the_content_of_a_file_changes_by_scanning_alone() {
    let world = World::new();
    let scanner = Scanner::on(&world);
    let memory = scanner.add(&world, "a.py", "one", "alpha").to_string();
    for change in [json!({"context": "other"}), json!({"name": "a-file"})] {
        let mut request = change.clone();
        request["memory_id"] = json!(memory);
        assert_eq!(world.fails("update_memory", request).0, "conflict", "{change}");
    }
    world.call("update_memory", json!({"memory_id": memory, "tags": ["keep"], "pinned": true}));
    scanner.write(&world, "a.py", "one", "beta", Some(memory.parse().unwrap()));
    assert_eq!(world.look(&memory)["tags"], json!(["keep"]));
    world.assert_doctor_is_content();
}

#[test]
fn forgetting_reads_files_only_when_code_is_asked_for() {
    let world = World::new();
    let scanner = Scanner::on(&world);
    world.add_named("note", "qzvperson wrote this");
    let memory = scanner.add(&world, "a.py", "one", "author_is_qzvperson qzvperson");
    let planned = |request: Value| {
        let plan = world.call("forget", request);
        let mut ids: Vec<String> = array(&plan["items"]).iter().map(|item| text_of(&item["id"])).collect();
        ids.sort();
        ids
    };
    assert_eq!(planned(json!({"query": "qzvperson"})).len(), 1);
    let both = planned(json!({"query": "qzvperson", "kinds": ["memories", "code"]}));
    assert!(both.len() == 2 && both.contains(&memory.to_string()), "{both:?}");
    assert_eq!(planned(json!({"query": "qzvperson", "kinds": ["code"]})), [memory.to_string()]);
    assert_eq!(planned(json!({"source": "code_indexer", "kinds": ["code"]})), [memory.to_string()]);
}
