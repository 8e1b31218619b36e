//! After any sequence of edits, moves, removals and returns, what is served equals what a fresh index of the same files
//! serves; and everything that is stored is sound.

use std::collections::BTreeMap;

use rootset_model::MemoryId;
use rootset_properties::Budget;
use rootset_store::driver::SearchIndex;
use rootset_testing::{Cell, Dice};

use crate::harness::{Source, World, source};

type Tree = BTreeMap<String, String>;

fn text(dice: &mut Dice) -> String {
    let mut text = String::new();
    if dice.below(2) == 0 {
        text.push_str(&format!("import lib{}\n", dice.below(3)));
    }
    for _ in 0..dice.below(5) {
        text.push_str(&format!("def f{}\nword{}\ncall f{}\n", dice.below(4), dice.below(3), dice.below(4)));
        if dice.below(4) == 0 {
            text.push_str(&format!("base Root{}\n", dice.below(2)));
        }
    }
    text
}

fn path(dice: &mut Dice) -> String {
    format!("d{}/m{}.toy", dice.below(2), dice.below(4))
}

/// What happens to a tree between two scans.
fn change(tree: &mut Tree, dice: &mut Dice) {
    for _ in 0..=dice.below(3) {
        let target = path(dice);
        let existing = tree.keys().nth(dice.below(tree.len().max(1))).cloned();
        match (dice.below(4), existing) {
            (0, Some(old)) => drop(tree.remove(&old)),
            (1, Some(old)) => {
                let moved = tree.remove(&old).unwrap_or_default();
                tree.insert(target, moved);
            }
            (2, Some(old)) => {
                // Another function at the end: what stands before it keeps its chunks.
                let more = format!("def g{}\nword{}\n", dice.below(3), dice.below(3));
                tree.entry(old).and_modify(|it| it.push_str(&more));
            }
            _ => drop(tree.insert(target, text(dice))),
        }
    }
}

/// Scans as the scanner does: by path first, then by content for what is new, the rest is gone.
fn scan(world: &World, tree: &Tree) {
    let states = world.states();
    let stored: BTreeMap<&str, MemoryId> = states.iter().map(|it| (it.path.as_str(), it.memory)).collect();
    let mut gone: Vec<MemoryId> = states.iter().filter(|it| !tree.contains_key(&it.path)).map(|it| it.memory).collect();
    let texts: BTreeMap<MemoryId, String> = gone.iter().map(|memory| (*memory, world.text_of(*memory))).collect();
    let mut sources: Vec<Source> = Vec::new();
    let mut returned: Vec<MemoryId> = Vec::new();
    for (path, text) in tree {
        let file = source(path, text);
        match stored.get(path.as_str()) {
            Some(memory) if world.text_of(*memory) == *text => returned.push(*memory),
            Some(memory) => sources.push(file.replacing(*memory)),
            None => match gone.iter().position(|memory| texts[memory] == *text) {
                Some(place) => sources.push(file.replacing(gone.remove(place))),
                None => sources.push(file),
            },
        }
    }
    // Files with a memory first: a new one may stand where they were.
    sources.sort_by_key(|it| it.replaces.is_none());
    let lease = world.lease();
    for batch in sources.chunks(2) {
        world.write(&lease, batch);
    }
    world.complete(Some(&lease), &gone, &returned);
}

/// Everything that is served or counted, without ids, numbers and times.
fn served(world: &World) -> Vec<String> {
    let living = "JOIN memories m ON m.memory = f.memory AND m.trashed_run IS NULL AND m.stale_at IS NULL";
    let connection = world.sql();
    let rows = connection.search_rows(1, SearchIndex::Code).unwrap().into_iter();
    let terms: BTreeMap<i64, (String, String)> = rows.map(|row| (row.key, (row.head, row.body))).collect();
    let mut lines = Vec::new();
    for sql in [
        format!(
            "SELECT 'file', f.path, m.file_path, r.topic, r.context, f.lines, f.language FROM files f {living}
                 JOIN revisions r ON r.memory = f.memory"
        ),
        format!(
            "SELECT 'symbol', f.path, s.ordinal, s.name, s.qualified_name, s.kind, s.parent, s.first_line,
                        s.last_line, s.start, s.length, s.signature
                 FROM files f {living} JOIN symbols s ON s.memory = f.memory"
        ),
        format!(
            "SELECT 'chunk', f.path, ch.ordinal, ch.start, ch.length, ch.symbol, ch.chunk
                 FROM files f {living} JOIN chunks ch ON ch.memory = f.memory"
        ),
        format!(
            "SELECT 'references', f.path, c.packed FROM files f {living}
                 JOIN code_references c ON c.memory = f.memory"
        ),
        format!(
            "SELECT 'entity', f.path, e.name, e.type, c.text, e.is_symbol FROM files f {living}
                 JOIN contributions c ON c.memory = f.memory JOIN entities e ON e.entity = c.object"
        ),
        format!(
            "SELECT 'relation', f.path, a.name, r.verb, b.name FROM files f {living}
                 JOIN contributions c ON c.memory = f.memory JOIN relations r ON r.relation = c.object
                 JOIN entities a ON a.entity = r.source JOIN entities b ON b.entity = r.target"
        ),
    ] {
        let rows = connection.rows(&sql, &[], |row| {
            let cells = row.columns().map(|(name, cell)| match (name, cell) {
                // Numbers differ from index to index; what is searched by them does not.
                ("chunk", Cell::Integer(chunk)) => format!("{:?}", terms.get(chunk)),
                (_, cell) => format!("{cell:?}"),
            });
            Ok(cells.collect::<Vec<_>>().join(" | "))
        });
        lines.extend(rows.unwrap());
    }
    // What is searched, and therefore what its statistics count.
    lines.extend(terms.values().map(|terms| format!("'search' | {terms:?}")));
    lines.sort();
    lines
}

#[test]
fn a_history_of_scans_serves_what_a_fresh_index_serves() {
    for seed in Budget::weighted(6).starting_at(1).seeds() {
        let mut dice = Dice(0x9E37_79B9_7F4A_7C15_u64.wrapping_mul(seed));
        let world = World::new();
        let mut tree = Tree::new();
        for step in 0..10 {
            change(&mut tree, &mut dice);
            scan(&world, &tree);
            let fresh = World::new();
            // Makes the full-text table, also when the tree is empty.
            scan(&fresh, &Tree::from([("x.toy".to_owned(), "x\n".to_owned())]));
            scan(&fresh, &tree);
            assert_eq!(served(&world), served(&fresh), "seed {seed}, step {step}, {tree:#?}");
        }
        assert_eq!(world.broken(), Vec::<&str>::new(), "seed {seed}");
    }
}
