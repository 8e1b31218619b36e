//! `use` trees, flattened and made absolute.

use tree_sitter::Node;

use crate::limits::NAME_BYTES_MAX;
use crate::walk::Walk;

pub(super) fn extern_crate<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    let name = walk.field(node, "name");
    let alias = walk.field(node, "alias");
    walk.import(node, name.to_owned(), Some(if alias.is_empty() { name } else { alias }));
}

pub(super) fn use_declaration<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    let Some(argument) = node.child_by_field_name("argument") else { return };
    // Branches still to be read, each with the path that leads to it; the next is the last.
    let mut branches = vec![(argument, String::new())];
    while let Some((node, path)) = branches.pop() {
        if path.len() > 2 * NAME_BYTES_MAX {
            continue;
        }
        match node.kind() {
            "use_list" => {
                let first = branches.len();
                branches.extend(node.named_children(&mut node.walk()).map(|child| (child, path.clone())));
                branches[first..].reverse();
            }
            "scoped_use_list" => {
                let path = joined(walk, &path, walk.field(node, "path"));
                branches.extend(node.child_by_field_name("list").map(|list| (list, path)));
            }
            "use_as_clause" => {
                let target = joined(walk, &path, walk.field(node, "path"));
                let alias = walk.field(node, "alias");
                // `as _` brings in a trait without a name.
                walk.import(node, target, Some(alias).filter(|alias| *alias != "_"));
            }
            "use_wildcard" => {
                let inner = node.named_child(0).map_or("", |inner| walk.text(inner));
                walk.import(node, joined(walk, &path, inner), None);
            }
            "identifier" | "scoped_identifier" | "self" | "crate" | "super" => {
                let target = joined(walk, &path, walk.text(node));
                let local = target.rsplit("::").next().unwrap_or_default().to_owned();
                walk.import(node, target, Some(&local));
            }
            _ => {}
        }
    }
}

/// `path` and what is written behind it.
fn joined(walk: &Walk<'_, '_>, path: &str, written: &str) -> String {
    if !path.is_empty() {
        // `use a::{self, b}`
        return if written == "self" || written.is_empty() { path.to_owned() } else { [path, "::", written].concat() };
    }
    absolute(walk, written)
}

/// A path from the crate on, where its first part says how to get there.
pub(super) fn absolute(walk: &Walk<'_, '_>, written: &str) -> String {
    let written: String = written.split_whitespace().collect();
    let (first, rest) = written.split_once("::").unwrap_or((&written, ""));
    let here = walk.namespace();
    let mut base = match first {
        "crate" => here.split("::").next().unwrap_or_default().to_owned(),
        "self" => here.to_owned(),
        "super" => parent(here).to_owned(),
        _ => return written.trim_start_matches("::").to_owned(),
    };
    let mut rest = rest;
    while let Some(further) = rest.strip_prefix("super") {
        base = parent(&base).to_owned();
        rest = further.trim_start_matches("::");
    }
    if rest.is_empty() { base } else { [&base, "::", rest].concat() }
}

fn parent(path: &str) -> &str {
    path.rsplit_once("::").map_or(path, |(parent, _)| parent)
}
