//! `import`, `export … from` and `require`.

use tree_sitter::Node;

use super::names::{bound_kind, dotted, unquoted, without_source_extension};
use crate::paths::{directory_of, or_repo, resolve_relative};
use crate::walk::Walk;
use rootset_model::code::PACKAGE_MARK;

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
            "named_imports" => specifiers(walk, part, &from, false),
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

/// What is exported from elsewhere is imported first; without a source, the file's own names are exported.
pub(super) fn export<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    let Some(from) = source_of(walk, node) else {
        let mut cursor = node.walk();
        if let Some(clause) = node.named_children(&mut cursor).find(|child| child.kind() == "export_clause") {
            own_specifiers(walk, clause);
        }
        return;
    };
    let mut named = false;
    for part in node.named_children(&mut node.walk()) {
        match part.kind() {
            "export_clause" => {
                specifiers(walk, part, &from, true);
                named = true;
            }
            "namespace_export" => {
                let local = part.named_child(0).map(|name| walk.text(name));
                walk.re_export(part, from.clone(), local);
                named = true;
            }
            _ => {}
        }
    }
    if !named {
        walk.re_export(node, from, None);
    }
}

/// `export { a, b as c }`
fn own_specifiers<'tree>(walk: &mut Walk<'_, 'tree>, clause: Node<'tree>) {
    for specifier in clause.named_children(&mut clause.walk()) {
        let (name, alias) = (walk.field(specifier, "name"), unquoted(walk.field(specifier, "alias")));
        if !alias.is_empty() && alias != name {
            export_as(walk, specifier, name, alias);
        }
    }
}

/// Importers see a name of this file under another.
pub(super) fn export_as<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>, name: &str, exported: &str) {
    if name != exported && !name.is_empty() {
        let target = walk.qualify(name);
        walk.re_export(node, target, Some(exported));
    }
}

/// `export default function f() {}`
pub(super) fn export_declared<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    let mut cursor = node.walk();
    let is_default = node.children(&mut cursor).any(|child| child.kind() == DEFAULT);
    if let Some(declaration) = node.child_by_field_name("declaration").filter(|_| is_default) {
        export_as(walk, declaration, walk.field(declaration, "name"), DEFAULT);
    }
}

/// `module.exports = f`, `module.exports = { a: f }`, `export default f`
pub(super) fn export_value<'tree>(walk: &mut Walk<'_, 'tree>, value: Node<'tree>) {
    match value.kind() {
        "identifier" => export_as(walk, value, walk.text(value), DEFAULT),
        "object" => {
            for part in value.named_children(&mut value.walk()).filter(|part| part.kind() == "pair") {
                if let Some(of) = part.child_by_field_name("value").filter(|of| of.kind() == "identifier") {
                    export_as(walk, part, walk.text(of), unquoted(walk.field(part, "key")));
                }
            }
        }
        _ => {
            if let Some(name) = value.child_by_field_name("name") {
                export_as(walk, value, walk.text(name), DEFAULT);
            }
        }
    }
}

/// The name in this file that a value of `exports.a` stands for: `f`, `exports.b = f`, `exports.b = function …`.
pub(super) fn name_exported_by<'a>(walk: &Walk<'a, '_>, value: Node<'_>) -> Option<&'a str> {
    /// More names for one thing are in no file that a person wrote.
    const NAMES_MAX: usize = 8;
    let (mut value, mut other) = (value, None);
    for _ in 0..NAMES_MAX {
        match value.kind() {
            "identifier" => return Some(walk.text(value)),
            "parenthesized_expression" => value = value.named_child(0)?,
            "assignment_expression" => {
                let left = value.child_by_field_name("left")?;
                let is_exported = left.kind() == "member_expression"
                    && matches!(walk.field(left, "object"), "exports" | "module.exports");
                if is_exported {
                    other = Some(walk.field(left, "property"));
                }
                value = value.child_by_field_name("right")?;
            }
            _ => break,
        }
    }
    // What has no name of its own is defined under the innermost of its names.
    other.filter(|_| bound_kind(value).is_some())
}

const DEFAULT: &str = "default";

/// `const a = require("x")`, `const {a, b: c} = require("x")`, `const a = require("x").b`; whether it is one of them.
pub(super) fn required<'tree>(walk: &mut Walk<'_, 'tree>, name: Node<'tree>, value: Node<'tree>) -> bool {
    let (value, part) = match value.kind() {
        "member_expression" => match value.child_by_field_name("object") {
            Some(object) => (object, walk.field(value, "property")),
            None => return false,
        },
        _ => (value, ""),
    };
    if value.kind() != "call_expression" || walk.field(value, "function") != "require" {
        return false;
    }
    let Some(path) = value.child_by_field_name("arguments").and_then(|arguments| arguments.named_child(0)) else {
        return false;
    };
    if path.kind() != "string" {
        return false;
    }
    let from = absolute(walk, unquoted(walk.text(path)));
    let from = if part.is_empty() { from } else { member(&from, part) };
    if name.kind() == "identifier" {
        walk.import(name, from, Some(walk.text(name)));
        return true;
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
    true
}

/// Whether a value is a module, or a part of one: it is no variable of this file.
pub(super) fn is_required(walk: &Walk<'_, '_>, value: Node<'_>) -> bool {
    let of = if value.kind() == "member_expression" { value.child_by_field_name("object") } else { Some(value) };
    of.is_some_and(|of| of.kind() == "call_expression" && walk.field(of, "function") == "require")
}

fn specifiers<'tree>(walk: &mut Walk<'_, 'tree>, clause: Node<'tree>, from: &str, is_exported: bool) {
    for specifier in clause.named_children(&mut clause.walk()) {
        let name = unquoted(walk.field(specifier, "name"));
        let alias = unquoted(walk.field(specifier, "alias"));
        if !name.is_empty() {
            let (target, local) = (member(from, name), Some(if alias.is_empty() { name } else { alias }));
            if is_exported {
                walk.re_export(specifier, target, local);
            } else {
                walk.import(specifier, target, local);
            }
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
        // A path below a package or an alias may name a file. A package alone is no module at the top of the repository.
        return if written.contains('/') {
            without_source_extension(written).to_owned()
        } else {
            [PACKAGE_MARK, written].concat()
        };
    }
    match resolve_relative(directory_of(walk.source.path), written) {
        Some(path) => or_repo(dotted(&path), walk.source.repo),
        None => written.to_owned(),
    }
}

fn member(module: &str, name: &str) -> String {
    [module, ".", name].concat()
}
