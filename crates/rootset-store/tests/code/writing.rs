//! Files as they are written and replaced: what keeps its number, what goes, what the graph is told.

use rootset_model::EntityId;
use rootset_model::Timestamp;
use rootset_model::code::SymbolKind;

use crate::harness::{World, source};

const FOREVER: Timestamp = Timestamp(i64::MAX / 2);

#[test]
fn a_new_file_is_a_memory_with_its_text_and_without_a_name() {
    let world = World::new();
    let made = world.scan(&[source("src/a.toy", "import lib\ndef one\ncall two\n")], &[]);
    assert!(made[0].created);
    let full = world.store.full_memory(&world.workspace, &made[0].memory.to_string(), None).unwrap();
    assert_eq!(full.row.source, "code_indexer");
    assert_eq!((full.row.name, full.row.doc_hash), (None, None));
    assert_eq!(full.row.source_version, Some(1));
    assert_eq!(full.row.file_path.as_deref(), Some("src/a.toy"));
    assert_eq!((full.content.topic.as_str(), full.content.context.lines().count()), ("src/a.toy", 3));
    let (entity, relations) = world.store.entity(&world.workspace, "src.a.one", FOREVER).unwrap();
    assert_eq!(entity.id, EntityId::derive_symbol("src.a.one", SymbolKind::Function));
    assert_eq!((entity.entity_type.as_str(), entity.description.as_str()), ("function", "def one"));
    assert_eq!(relations.iter().map(|it| it.relation.as_str()).collect::<Vec<_>>(), ["defines"]);
    let (module, relations) = world.store.entity(&world.workspace, "lib", FOREVER).unwrap();
    assert_eq!((module.entity_type.as_str(), relations[0].relation.as_str()), ("module", "imports"));
    assert_eq!(world.broken(), Vec::<&str>::new());
}

#[test]
fn equal_files_are_memories_of_their_own_and_share_nothing_but_entities() {
    let world = World::new();
    let made = world.scan(&[source("x/LICENSE", "free\n"), source("y/LICENSE", "free\n")], &[]);
    assert_ne!(made[0].memory, made[1].memory);
    assert_eq!(world.count("memories"), 2);
    assert_eq!(world.broken(), Vec::<&str>::new());
}

#[test]
fn chunks_whose_text_is_unchanged_keep_their_numbers_wherever_they_move() {
    let world = World::new();
    let before = world.scan(&[source("a.toy", "head\ndef one\n1\ndef two\n2\ndef three\n3\n")], &[])[0].memory;
    let [head, one, two, three] = world.chunks(before)[..] else { panic!("four chunks") };
    // One changes, two goes, three moves up, four is new.
    let changed = source("a.toy", "head\ndef three\n3\ndef one\nother\ndef four\n4\n").replacing(before);
    let outcome = &world.scan(&[changed], &[])[0];
    assert_eq!((outcome.memory, outcome.created, outcome.chunks_kept), (before, false, 2));
    assert_eq!(outcome.vanished, ["a.two"]);
    let now = world.chunks(before);
    assert_eq!((now.len(), now[0], now[1]), (4, head, three));
    assert!(!now.contains(&one) && !now.contains(&two));
    let full = world.store.full_memory(&world.workspace, &before.to_string(), None).unwrap();
    assert_eq!((full.row.version, full.row.revision, full.row.source_version), (2, 1, Some(2)));
    assert_eq!(world.count("revisions"), 1);
    assert!(world.store.entity(&world.workspace, "a.two", FOREVER).is_err());
    assert!(world.store.entity(&world.workspace, "a.four", FOREVER).is_ok());
    assert_eq!(world.broken(), Vec::<&str>::new());
}

#[test]
fn of_equal_chunks_as_many_stay_as_are_still_there() {
    let world = World::new();
    let before = world.scan(&[source("a.toy", "def x\n1\ndef x\n1\ndef x\n1\n")], &[])[0].memory;
    let numbers = world.chunks(before);
    let outcome = &world.scan(&[source("a.toy", "def x\n1\ndef x\n1\n").replacing(before)], &[])[0];
    assert_eq!((outcome.chunks_kept, outcome.vanished.len()), (2, 0));
    assert_eq!(world.chunks(before), numbers[..2]);
    assert_eq!(world.broken(), Vec::<&str>::new());
}

#[test]
fn a_renamed_file_keeps_its_memory_and_its_chunks_and_is_found_under_its_new_path() {
    let world = World::new();
    let before = world.scan(&[source("old.toy", "def one\n1\n")], &[])[0].memory;
    let numbers = world.chunks(before);
    let outcome = &world.scan(&[source("new.toy", "def one\n1\n").replacing(before)], &[])[0];
    assert_eq!((outcome.memory, outcome.chunks_kept), (before, numbers.len()));
    assert_eq!(outcome.vanished, ["old", "old.one"]);
    assert_eq!(world.chunks(before), numbers);
    assert_eq!(world.states().iter().map(|it| it.path.as_str()).collect::<Vec<_>>(), ["new.toy"]);
    assert!(world.store.entity(&world.workspace, "old.one", FOREVER).is_err());
    assert_eq!(world.broken(), Vec::<&str>::new());
}

#[test]
fn two_files_can_change_places_in_one_batch() {
    let world = World::new();
    let made = world.scan(&[source("a.toy", "def one\n"), source("b.toy", "def two\n")], &[]);
    let swapped = [
        source("b.toy", "def one\n").replacing(made[0].memory),
        source("a.toy", "def two\n").replacing(made[1].memory),
    ];
    world.scan(&swapped, &[]);
    let states: Vec<_> = world.states().into_iter().map(|it| (it.path, it.memory, it.is_stale)).collect();
    let expected = [("a.toy".to_owned(), made[1].memory, false), ("b.toy".to_owned(), made[0].memory, false)];
    assert_eq!(states, expected);
    assert_eq!(world.broken(), Vec::<&str>::new());
}

#[test]
fn a_changed_file_is_no_longer_stale() {
    let world = World::new();
    let memory = world.scan(&[source("a.toy", "def one\n")], &[])[0].memory;
    world.complete(None, &[memory], &[]);
    world.scan(&[source("a.toy", "def two\n").replacing(memory)], &[]);
    assert!(!world.states()[0].is_stale);
}

#[test]
fn what_two_files_define_stays_until_the_second_lets_go() {
    let world = World::new();
    let text = "import shared\ndef one\n";
    let made = world.scan(&[source("a.toy", text), source("b.toy", text)], &[]);
    world.scan(&[source("a.toy", "def one\n").replacing(made[0].memory)], &[]);
    assert_eq!(world.store.entity(&world.workspace, "shared", FOREVER).unwrap().0.refcount, 1);
    world.scan(&[source("b.toy", "def one\n").replacing(made[1].memory)], &[]);
    assert!(world.store.entity(&world.workspace, "shared", FOREVER).is_err());
    assert_eq!(world.broken(), Vec::<&str>::new());
}

#[test]
fn many_changed_chunks_are_marked_by_sqlite_and_gone_when_the_run_ends() {
    let world = World::new();
    let text = |word: &str| (0..400).map(|n| format!("def f{n}\n{word}{n}\n")).collect::<String>();
    let memory = world.scan(&[source("a.toy", &text("before"))], &[])[0].memory;
    let lease = world.lease();
    world.write(&lease, &[source("a.toy", &text("after")).replacing(memory)]);
    assert_eq!(world.broken(), ["I12.compaction"]);
    assert!(world.sqlite_index_holds("efore"));
    world.complete(Some(&lease), &[], &[]);
    assert_eq!(world.broken(), Vec::<&str>::new());
    // A term is stored without what it shares with the one before, which is the `a` of the path.
    assert!(world.sqlite_index_holds("fter") && !world.sqlite_index_holds("efore"));
}

#[test]
fn the_full_text_of_code_in_sqlite_stays_sound_through_deletes_and_merges() {
    let world = World::new();
    let mut memory = None;
    for round in 0..40 {
        let text: String = (0..20).map(|n| format!("def f{n}\nword{} same\n", n * (round % 3 + 1))).collect();
        let file = source("a.toy", &text);
        let file = match memory {
            Some(memory) => file.replacing(memory),
            None => file,
        };
        memory = Some(world.scan(&[file], &[])[0].memory);
    }
    let check = "INSERT INTO search_code_1(search_code_1, rank) VALUES ('integrity-check', 1)";
    world.sql().execute_batch(check).expect("FTS5 finds its index equal to its content");
    assert_eq!(world.broken(), Vec::<&str>::new());
}
