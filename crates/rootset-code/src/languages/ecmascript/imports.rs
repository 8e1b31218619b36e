//! `import`, `export … from` and `require`.

use tree_sitter::Node;

use super::names::{dotted, unquoted};
use crate::paths::{directory_of, or_repo, resolve_relative};
use crate::walk::Walk;

pub(super) fn import<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    let Some(from) = source_of(walk, node) else { return };
    let mut cursor = node.walk();
    let Some(clause) = node.named_children(&mut cursor).find(|child| child.kind() == "import_clause") else {
        // `import x = require("y")` has a clause of its own.
        return walk.import(node, from, None);
    };
    for part in clause.named_children(&mut clause.walk()) {
        match part.kind() {
            "identifier" => walk.import(part, member(&from, "default"), Some(walk.text(part))),
            "namespace_import" => {
                let local = part.named_child(0).map(|name| walk.text(name));
                walk.import(part, from.clone(), local);
            }
            "named_imports" => specifiers(walk, part, &from),
            _ => {}
        }
    }
}

pub(super) fn import_require<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    if let Some(from) = source_of(walk, node) {
        let local = node.named_child(0).map(|name| walk.text(name));
        walk.import(node, from, local);
    }
}

/// What is exported from elsewhere is imported first.
pub(super) fn export<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    let Some(from) = source_of(walk, node) else { return };
    let mut named = false;
    for part in node.named_children(&mut node.walk()) {
        match part.kind() {
            "export_clause" => {
                specifiers(walk, part, &from);
                named = true;
            }
            "namespace_export" => {
                let local = part.named_child(0).map(|name| walk.text(name));
                walk.import(part, from.clone(), local);
                named = true;
            }
            _ => {}
        }
    }
    if !named {
        walk.import(node, from, None);
    }
}

/// `const a = require("x")`, `const {a, b: c} = require("x")`
pub(super) fn required<'tree>(walk: &mut Walk<'_, 'tree>, name: Node<'tree>, value: Node<'tree>) {
    if value.kind() != "call_expression" || walk.field(value, "function") != "require" {
        return;
    }
    let Some(path) = value.child_by_field_name("arguments").and_then(|arguments| arguments.named_child(0)) else {
        return;
    };
    if path.kind() != "string" {
        return;
    }
    let from = absolute(walk, unquoted(walk.text(path)));
    if name.kind() == "identifier" {
        return walk.import(name, from, Some(walk.text(name)));
    }
    for part in name.named_children(&mut name.walk()) {
        match part.kind() {
            "shorthand_property_identifier_pattern" => {
                let text = walk.text(part);
                walk.import(part, member(&from, text), Some(text));
            }
            "pair_pattern" => {
                let target = member(&from, walk.field(part, "key"));
                let local = walk.field(part, "value");
                walk.import(part, target, Some(local));
            }
            _ => {}
        }
    }
}

fn specifiers<'tree>(walk: &mut Walk<'_, 'tree>, clause: Node<'tree>, from: &str) {
    for specifier in clause.named_children(&mut clause.walk()) {
        let name = unquoted(walk.field(specifier, "name"));
        let alias = unquoted(walk.field(specifier, "alias"));
        if !name.is_empty() {
            walk.import(specifier, member(from, name), Some(if alias.is_empty() { name } else { alias }));
        }
    }
}

fn source_of(walk: &Walk<'_, '_>, node: Node<'_>) -> Option<String> {
    let written = unquoted(walk.text(node.child_by_field_name("source")?));
    Some(absolute(walk, written))
}

/// A relative path as the module's name; a package as written.
fn absolute(walk: &Walk<'_, '_>, written: &str) -> String {
    if !written.starts_with("./") && !written.starts_with("../") && written != "." && written != ".." {
        return written.to_owned();
    }
    match resolve_relative(directory_of(walk.source.path), written) {
        Some(path) => or_repo(dotted(&path), walk.source.repo),
        None => written.to_owned(),
    }
}

fn member(module: &str, name: &str) -> String {
    [module, ".", name].concat()
}
