//! Go: names begin at the package, methods name their type in the receiver.

#![cfg(feature = "grammars-systems")]

use std::sync::OnceLock;

use rootset_model::code::SymbolKind;
use tree_sitter::Node;

use crate::grammar::{Grammar, Rule};
use crate::language::{Language, Sees};
use crate::paths::{file_module, is_snake_case_test};
use crate::walk::{Definition, Walk};

pub(crate) static LANGUAGES: &[&Language] = &[&GO];

static GO: Language = Language {
    name: "go",
    aliases: &["golang"],
    extensions: &["go"],
    lock_files: &["go.sum"],
    is_test: |stem, _| is_snake_case_test(stem),
    sees: Sees::Folder,
    grammar: Some(&GRAMMAR),
    ..Language::PLAIN
};

static GRAMMAR: Grammar = Grammar {
    parser: || tree_sitter_go::LANGUAGE.into(),
    module: file_module,
    separator: ".",
    rules: &[
        ("comment", Rule::LEAD),
        ("package_clause", Rule::visit(package)),
        ("function_declaration", Rule::visit(function)),
        ("method_declaration", Rule::visit(method)),
        ("type_declaration", Rule::visit(type_declaration)),
        ("type_spec", Rule::visit(type_spec)),
        ("method_elem", Rule::visit(interface_method)),
        ("call_expression", Rule::visit(call)),
        ("import_spec", Rule::visit(import)),
        ("interpreted_string_literal", Rule::SKIP),
        ("raw_string_literal", Rule::SKIP),
    ],
    narrows: false,
    table: OnceLock::new(),
};

fn package<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    if let Some(name) = node.named_child(0) {
        walk.name_module(walk.text(name));
    }
}

fn function<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    let name = walk.field(node, "name");
    walk.define(Definition::new(node, SymbolKind::Function, name));
}

fn method<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    let name = walk.field(node, "name");
    let definition = Definition::new(node, SymbolKind::Method, name);
    match node.child_by_field_name("receiver").and_then(|receiver| receiver_type(walk, receiver)) {
        Some(of) => {
            let prefix = walk.qualify(of);
            walk.define_in(definition, &prefix);
        }
        None => walk.define(definition),
    }
}

/// `Server` in `(s *Server[T])`.
fn receiver_type<'a>(walk: &Walk<'a, '_>, receiver: Node<'_>) -> Option<&'a str> {
    let parameter = receiver.named_child(0)?;
    let mut node = parameter.child_by_field_name("type")?;
    for _ in 0..4 {
        node = match node.kind() {
            "type_identifier" => return Some(walk.text(node)),
            "generic_type" => node.child_by_field_name("type")?,
            _ => node.named_child(0)?,
        };
    }
    None
}

/// A declaration of one type is all of it; in a list each has its own text.
fn type_declaration<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    let mut cursor = node.walk();
    if node.named_children(&mut cursor).filter(|child| child.kind() == "type_spec").nth(1).is_none() {
        walk.wrap();
    }
}

/// Every defined type may have methods; those that are no interfaces count as structs.
fn type_spec<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    let name = walk.field(node, "name");
    let is_interface = node.child_by_field_name("type").is_some_and(|it| it.kind() == "interface_type");
    let kind = if is_interface { SymbolKind::Interface } else { SymbolKind::Struct };
    walk.define(Definition::new(node, kind, name));
}

fn interface_method<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    // Interfaces without a name have no methods that could be asked for.
    if walk.in_type() {
        let name = walk.field(node, "name");
        walk.define(Definition::new(node, SymbolKind::Method, name));
    }
}

fn call<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    let Some(function) = node.child_by_field_name("function") else { return };
    match function.kind() {
        "identifier" => walk.call(node, function, None),
        "selector_expression" => {
            if let Some(name) = function.child_by_field_name("field") {
                walk.call(node, name, function.child_by_field_name("operand"));
            }
        }
        _ => {}
    }
}

fn import<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    let path = walk.field(node, "path").trim_matches(['"', '`']);
    let local = match walk.field(node, "name") {
        "" => package_name(path),
        "." | "_" => None,
        name => Some(name),
    };
    walk.import(node, path.to_owned(), local);
}

/// The last part of the path, versions aside: `yaml` of `gopkg.in/yaml.v3`, `chi` of `github.com/go-chi/chi/v5`.
fn package_name(path: &str) -> Option<&str> {
    let is_version = |part: &str| {
        part.strip_prefix('v').is_some_and(|it| !it.is_empty() && it.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let last = path.rsplit('/').find(|part| !part.is_empty() && !is_version(part))?;
    match last.rsplit_once('.') {
        Some((name, version)) if is_version(version) => Some(name),
        _ => Some(last),
    }
}
