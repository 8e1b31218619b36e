//! Every operation, asked by one tenant about another's things: it answers as if the other had never been.

use std::collections::BTreeMap;

use rootset_api::{Effect, catalogue};
use rootset_service::Rights;
use serde_json::{Value, json};

use super::requests;
use super::tenants::{self, Handles, OTHER, OWN, SECRET};
use crate::harness::World;

#[test]
fn no_operation_tells_changes_or_counts_what_is_another_tenants() {
    let (mut both, handles) = tenants::inhabited();
    let mut alone = tenants::world();
    tenants::inhabit(&mut alone, OWN, "Quokka", 1);
    alone.advance_ms(both.now_ms() - alone.now_ms());
    alone.skip_ids(1_000_000);
    let before = rows_of_other(&both);
    assert!(before.values().map(Vec::len).sum::<usize>() > 100, "{before:?}");
    for world in [&mut both, &mut alone] {
        world.caller.workspace = OWN.into();
        world.caller.rights =
            Rights { scopes: Some(Effect::ALL.into()), workspaces: Some([OWN.to_owned()].into()), ..Rights::default() };
    }
    // Backwards first: what reads a session or a repository comes behind what makes one of that name.
    for operation in catalogue().iter().rev().chain(catalogue()) {
        let of = |world: &World| requests::about(operation, &handles, tenants::tree_of(world, OTHER).to_str().unwrap());
        for (asked_both, asked_alone) in of(&both).into_iter().zip(of(&alone)) {
            let shown = asked_both.to_string();
            let told = answer(&both, &handles, operation.name, asked_both);
            let expected = answer(&alone, &handles, operation.name, asked_alone);
            assert_eq!(told, expected, "{} {shown}", operation.name);
        }
    }
    both.service.finish().unwrap();
    let after = rows_of_other(&both);
    for (table, rows) in &before {
        assert_eq!(&after[table], rows, "{table}");
    }
    assert_eq!(scrubbed(&both, &handles, both.dump(OWN)), scrubbed(&alone, &handles, alone.dump(OWN)));
    assert_backups_hold_no_secret(&both, &handles);
    both.caller.rights = Rights::default();
    both.assert_doctor_is_content();
}

/// Every backup that was made meanwhile is of the asking tenant alone. (What the tenant wrote itself with the other's words
/// is in it: the names of the other's things that it never wrote are not.)
fn assert_backups_hold_no_secret(world: &World, handles: &Handles) {
    let mut made = 0;
    for entry in std::fs::read_dir(world.backup_folder()).unwrap() {
        let folder = entry.unwrap().path();
        if folder.ends_with(&handles.backup) || !folder.is_dir() {
            continue;
        }
        for file in std::fs::read_dir(&folder).unwrap() {
            let bytes = std::fs::read(file.unwrap().path()).unwrap();
            let text = String::from_utf8_lossy(&bytes).into_owned();
            assert!(!text.contains(&format!("{SECRET}Trash")), "{}", folder.display());
            made += 1;
        }
    }
    assert!(made > 0);
}

fn answer(world: &World, handles: &Handles, operation: &str, request: Value) -> Value {
    let answer = match world.try_call(operation, request) {
        Ok(answer) => answer,
        Err(error) => {
            assert_ne!(error.code.as_str(), "internal", "{operation}: {error}");
            error.to_json()
        }
    };
    scrubbed(world, handles, answer)
}

/// Ids that were drawn on the way differ from database to database, as do folders and sizes of databases; ids that were
/// asked with do not.
fn scrubbed(world: &World, handles: &Handles, value: Value) -> Value {
    let known = format!("{handles:?}");
    let folder = world.folder().to_str().unwrap().to_owned();
    scrub(value, &known, &folder)
}

fn scrub(value: Value, known: &str, folder: &str) -> Value {
    match value {
        Value::String(text) => scrub_text(&text.replace(folder, "<folder>"), known).into(),
        Value::Array(items) => items.into_iter().map(|it| scrub(it, known, folder)).collect(),
        Value::Object(fields) => fields
            .into_iter()
            .map(|(key, value)| match key.as_str() {
                // Of the database's files, and of the time that something took.
                "backup_id" | "path" | "digest" | "duration_ms" | "elapsed_ms" => (key, json!("<varies>")),
                _ => (key, scrub(value, known, folder)),
            })
            .collect(),
        other => other,
    }
}

/// `018f2f3e-9c4b-7cc1-a1f0-000000000001` becomes `<id>`, unless it was asked with.
fn scrub_text(text: &str, known: &str) -> String {
    const LENGTH: usize = 36;
    let is_id = |part: &[u8]| {
        part.iter().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => *byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
    };
    let mut out = String::new();
    let mut rest = text;
    while !rest.is_empty() {
        match rest.as_bytes().get(..LENGTH) {
            Some(part) if is_id(part) => {
                let id = &rest[..LENGTH];
                out.push_str(if known.contains(id) { id } else { "<id>" });
                rest = &rest[LENGTH..];
            }
            _ => {
                let next = rest.chars().next().expect("a text that is not empty");
                out.push(next);
                rest = &rest[next.len_utf8()..];
            }
        }
    }
    out
}

/// All rows of the other tenant, by the names of their tables.
fn rows_of_other(world: &World) -> BTreeMap<String, Vec<String>> {
    let sql = world.sql();
    let key: i64 = sql.scalar("SELECT workspace FROM workspaces WHERE workspace_id = ?1", &[OTHER.into()]).unwrap();
    super::raw_sql::tenant_tables(&sql)
        .into_iter()
        .map(|(table, column)| {
            let statement = format!("SELECT t::TEXT FROM {table} AS t WHERE {column} = ?1 ORDER BY 1");
            (table, sql.rows(&statement, &[key.into()], |row| row.get(0)).unwrap())
        })
        .collect()
}
