//! What is served of files: symbols, texts, references and search, of current files only.

use rootset_model::Timestamp;
use rootset_model::code::SymbolKind;
use rootset_store::driver::SearchStatistics;
use rootset_store::{CodeCandidate, CodeFilters, CodeHit, CodeSearch, CodeSymbol};

use crate::harness::{REPO, World, source};

const NOW: Timestamp = Timestamp(5_000);

/// Later chunks last, so that the order of an answer is known.
fn by_place(candidates: &[CodeCandidate], _: &SearchStatistics) -> Vec<(usize, f64)> {
    let mut places: Vec<usize> = (0..candidates.len()).collect();
    places.sort_by_key(|place| candidates[*place].chunk);
    places.into_iter().map(|place| (place, 1.0 / (1.0 + place as f64))).collect()
}

fn search(world: &World, terms: &[&str], repo: Option<&str>, languages: &[&str], limit: usize) -> Vec<CodeHit> {
    let owned = |words: &[&str]| words.iter().map(|it| (*it).to_owned()).collect::<Vec<String>>();
    let (terms, languages) = (owned(terms), owned(languages));
    let request = CodeSearch {
        terms: &terms,
        filters: CodeFilters { repo, languages: &languages, ..CodeFilters::default() },
        limit,
        now: NOW,
    };
    world.store.search_code(&world.workspace, &request, &by_place).unwrap()
}

#[test]
fn symbols_are_found_by_the_last_part_of_their_names_in_exact_case() {
    let world = World::new();
    world.scan(&[source("b.toy", "def run\n1\ndef Run\n"), source("a.toy", "def run\n")], &[]);
    let found = world.store.symbols_named(&world.workspace, &["run".into()], None, NOW).unwrap();
    let names: Vec<_> = found.iter().map(|it| (it.path.as_str(), it.qualified_name.as_str())).collect();
    assert_eq!(names, [("a.toy", "a.run"), ("b.toy", "b.run")]);
    let of_b = &found[1];
    assert_eq!((of_b.kind, of_b.first_line, of_b.last_line), (SymbolKind::Function, 1, 2));
    assert_eq!((of_b.start, of_b.length, of_b.signature.as_str()), (0, 10, "def run"));
    assert!(world.store.symbols_named(&world.workspace, &["run".into()], Some("elsewhere"), NOW).unwrap().is_empty());
    let all = world.store.symbols_of_files(&world.workspace, &[of_b.memory], NOW).unwrap();
    assert_eq!(all.iter().map(|it| it.ordinal).collect::<Vec<_>>(), [0, 1, 2]);
    let texts = world.store.file_texts(&world.workspace, &[of_b.memory], NOW).unwrap();
    assert_eq!(texts, [(of_b.memory, "def run\n1\ndef Run\n".to_owned())]);
}

#[test]
fn references_come_back_as_they_were_written_of_files_that_hold_the_term() {
    let world = World::new();
    let caller = "import lib\ndef one\ncall save\nbase Root\n";
    let made = world.scan(&[source("b.toy", caller), source("a.toy", "def save\n"), source("c.toy", "def x\n")], &[]);
    let found = world.store.references_holding(&world.workspace, "save", None, 10, NOW).unwrap();
    let paths: Vec<&str> = found.iter().map(|it| it.path.as_str()).collect();
    assert_eq!(paths, ["a.toy", "b.toy"]);
    let references = &found[1].references;
    assert_eq!(
        (references.calls[0].name.as_str(), references.calls[0].caller, references.calls[0].line),
        ("save", 1, 3)
    );
    assert_eq!((references.imports[0].target.as_str(), references.bases[0].target.as_str()), ("lib", "Root"));
    let limited = world.store.references_holding(&world.workspace, "save", Some(REPO), 1, NOW).unwrap();
    assert_eq!(limited.len(), 1);
    let given = world.store.references_of(&world.workspace, &[made[0].memory], NOW).unwrap();
    assert_eq!(given, found[1..]);
}

#[test]
fn a_hit_shows_its_chunk_and_where_it_stands() {
    let world = World::new();
    world.scan(&[source("lib/a.toy", "head\ndef one\nneedle\ndef two\nhay\n")], &[]);
    let hits = search(&world, &["needle"], None, &[], 5);
    assert_eq!(hits.len(), 1);
    let hit = &hits[0];
    assert_eq!((hit.text.as_str(), hit.line), ("def one\nneedle\n", 2));
    assert_eq!(
        hit.candidate.symbol,
        Some(CodeSymbol {
            qualified_name: "lib.a.one".to_owned(),
            kind: SymbolKind::Function,
            first_line: 2,
            last_line: 3,
            signature: "def one".to_owned(),
        })
    );
    assert_eq!((hit.candidate.path.as_str(), hit.candidate.language.as_str()), ("lib/a.toy", "toy"));
    assert_eq!(
        (hit.candidate.head_terms.as_str(), hit.candidate.body_terms.as_str()),
        ("lib a toy one", "def one needle")
    );
    assert!(search(&world, &["nowhere"], None, &[], 5).is_empty());
    assert!(search(&world, &[], None, &[], 5).is_empty());
}

#[test]
fn stale_files_leave_every_read_at_once_and_come_back_with_the_next_scan() {
    let world = World::new();
    let memory = world.scan(&[source("a.toy", "def one\ncall needle\n")], &[])[0].memory;
    let served = || {
        let (store, workspace) = (&world.store, &world.workspace);
        [
            search(&world, &["needle"], None, &[], 5).len(),
            store.symbols_named(workspace, &["one".into()], None, NOW).unwrap().len(),
            store.references_holding(workspace, "needle", None, 5, NOW).unwrap().len(),
            store.references_of(workspace, &[memory], NOW).unwrap().len(),
            store.file_texts(workspace, &[memory], NOW).unwrap().len(),
        ]
    };
    assert_eq!(served(), [1; 5]);
    world.complete(None, &[memory], &[]);
    assert_eq!(served(), [0; 5]);
    world.complete(None, &[], &[memory]);
    assert_eq!(served(), [1; 5]);
}

#[test]
fn search_is_narrowed_to_folders_files_kinds_and_tests() {
    let world = World::new();
    let text = "needle\ndef one\nneedle\n";
    world.scan(&["lib/a.toy", "lib/sub/b.toy", "library.toy"].map(|path| source(path, text)), &[]);
    let found = |filters: CodeFilters<'_>| {
        let terms = ["needle".to_owned()];
        let request = CodeSearch { terms: &terms, filters, limit: 9, now: NOW };
        let hits = world.store.search_code(&world.workspace, &request, &by_place).unwrap();
        hits.into_iter().map(|hit| hit.candidate.path).collect::<Vec<_>>()
    };
    let below = |path| CodeFilters { path: Some(path), ..CodeFilters::default() };
    assert_eq!(found(below("lib")), ["lib/a.toy", "lib/a.toy", "lib/sub/b.toy", "lib/sub/b.toy"]);
    assert_eq!(found(below("lib/a.toy")), ["lib/a.toy"; 2]);
    assert!(found(below("l%")).is_empty() && found(below("lib/a")).is_empty());
    assert_eq!(found(CodeFilters { kind: Some("module"), ..below("lib") }), ["lib/a.toy", "lib/sub/b.toy"]);
    assert_eq!(found(CodeFilters { is_test: Some(false), ..CodeFilters::default() }).len(), 6);
    assert!(found(CodeFilters { is_test: Some(true), ..CodeFilters::default() }).is_empty());
}

#[test]
fn filters_find_their_rows_behind_thousands_of_others() {
    let world = World::new();
    world.scan(&[source("only.py", "def one\ncommon\n")], &[]);
    let many: String = (0..3_000).map(|n| format!("def f{n}\ncommon\n")).collect();
    world.scan(&[source("many.toy", &many)], &[]);
    let hits = search(&world, &["common"], None, &["python"], 5);
    assert_eq!(hits.iter().map(|hit| hit.candidate.path.as_str()).collect::<Vec<_>>(), ["only.py"]);
    assert_eq!(search(&world, &["common"], None, &[], 5).len(), 5);
    assert!(search(&world, &["common"], Some("elsewhere"), &[], 5).is_empty());
    // The rare term is only in the other language: the common one has to be asked for.
    let hits = search(&world, &["common", "f7"], None, &["python"], 5);
    assert_eq!(hits.len(), 1);
}

#[test]
fn a_changed_file_is_found_by_its_new_words_and_no_longer_by_the_old() {
    let world = World::new();
    let memory = world.scan(&[source("a.toy", "def one\nbefore\ndef two\nkept\n")], &[])[0].memory;
    world.scan(&[source("moved.toy", "def one\nafter\ndef two\nkept\n").replacing(memory)], &[]);
    assert!(search(&world, &["before"], None, &[], 5).is_empty());
    assert_eq!(search(&world, &["after"], None, &[], 5).len(), 1);
    // The path is part of what a chunk is found by: also that of a chunk whose text stayed.
    assert_eq!(search(&world, &["moved"], None, &[], 5).len(), 2);
    assert!(search(&world, &["a"], None, &[], 5).is_empty());
}
