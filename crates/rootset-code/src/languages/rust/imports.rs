//! `use` trees, flattened and made absolute.

use rootset_model::code::{Mapping, MappingKind};
use tree_sitter::Node;

use crate::limits::NAME_BYTES_MAX;
use crate::paths::directory_of;
use crate::reader::Source;
use crate::walk::Walk;

pub(super) fn extern_crate<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    let name = walk.field(node, "name");
    let alias = walk.field(node, "alias");
    walk.import(node, name.to_owned(), Some(if alias.is_empty() { name } else { alias }));
}

pub(super) fn use_declaration<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    let Some(argument) = node.child_by_field_name("argument") else { return };
    let mut cursor = node.walk();
    let is_public = node.named_children(&mut cursor).any(|child| child.kind() == "visibility_modifier");
    let import = |walk: &mut Walk<'_, 'tree>, node, target, local: Option<&str>| {
        if is_public { walk.re_export(node, target, local) } else { walk.import(node, target, local) }
    };
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
                import(walk, node, target, Some(alias).filter(|alias| *alias != "_"));
            }
            "use_wildcard" => {
                let inner = node.named_child(0).map_or("", |inner| walk.text(inner));
                let target = joined(walk, &path, inner);
                import(walk, node, target, None);
            }
            "identifier" | "scoped_identifier" | "self" | "crate" | "super" => {
                let target = joined(walk, &path, walk.text(node));
                let local = target.rsplit("::").next().unwrap_or_default().to_owned();
                import(walk, node, target, Some(&local));
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

/// `crate::a`, `self::a` and `super::a` as paths that begin at the names of crates; `None` for other receivers.
pub(super) fn from_crate(walk: &Walk<'_, '_>, receiver: &str) -> Option<String> {
    let (first, _) = receiver.split_once("::").unwrap_or((receiver, ""));
    let says_where = matches!(first.trim(), "crate" | "super") || first.trim() == "self" && receiver.contains("::");
    let is_path = receiver.len() <= 2 * NAME_BYTES_MAX && !receiver.contains(['(', '.', '<']);
    (says_where && is_path).then(|| ["::", &absolute(walk, receiver)].concat())
}

/// The name of the crate that a `Cargo.toml` is of: its library's or, without one, its package's.
pub(super) fn crates(source: &Source<'_>) -> Vec<Mapping> {
    let (mut section, mut package, mut library) = ("", None, None);
    for line in source.text.lines().map(str::trim) {
        if let Some(name) = line.strip_prefix('[') {
            section = name.trim_end_matches(']').trim();
        } else if let Some((_, value)) = line.split_once('=').filter(|(key, _)| key.trim() == "name") {
            let name = value.split('#').next().unwrap_or(value).trim().trim_matches(['"', '\'']);
            match section {
                "package" => package = package.or(Some(name)),
                "lib" => library = library.or(Some(name)),
                _ => {}
            }
        }
    }
    let Some(name) = library.or(package).filter(|name| (1..=NAME_BYTES_MAX).contains(&name.len())) else {
        return Vec::new();
    };
    let to = directory_of(source.path).to_owned();
    vec![Mapping { kind: MappingKind::Crate, from: name.replace('-', "_"), to, within: String::new() }]
}

fn parent(path: &str) -> &str {
    path.rsplit_once("::").map_or(path, |(parent, _)| parent)
}
