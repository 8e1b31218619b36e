//! Go: names begin at the package, methods name their type in the receiver.

#![cfg(feature = "grammars-systems")]

use std::sync::OnceLock;

use rootset_model::code::{Mapping, MappingKind, SymbolKind};
use tree_sitter::Node;

use crate::grammar::{Grammar, Rule};
use crate::language::{Language, Naming, Sees};
use crate::limits::NAME_BYTES_MAX;
use crate::paths::{directory_of, file_module, is_snake_case_test};
use crate::reader::Source;
use crate::walk::{Definition, Walk};

pub(crate) static LANGUAGES: &[&Language] = &[&GO];

static GO: Language = Language {
    name: "go",
    aliases: &["golang"],
    extensions: &["go"],
    lock_files: &["go.sum"],
    is_test: |stem, _| is_snake_case_test(stem),
    sees: Sees::Folder,
    naming: Naming::Folders,
    manifests: &["go.mod"],
    mappings: go_module,
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
        ("func_literal", Rule::visit(literal)),
        ("short_var_declaration", Rule::visit(short_declaration)),
        ("range_clause", Rule::visit(range)),
        ("var_spec", Rule::visit(variable)),
        ("const_spec", Rule::visit(constant)),
        ("type_alias", Rule::visit(type_alias)),
        ("field_declaration", Rule::visit(struct_field)),
        ("type_elem", Rule::visit(embedded)),
        ("import_spec", Rule::visit(import)),
        ("interpreted_string_literal", Rule::SKIP),
        ("raw_string_literal", Rule::SKIP),
    ],
    scopes_blocks: true,
    narrows: false,
    masks: |_| None,
    table: OnceLock::new(),
};

/// `module github.com/acme/shop`
fn go_module(source: &Source<'_>) -> Vec<Mapping> {
    let name = source.text.lines().find_map(|line| line.trim().strip_prefix("module ")).unwrap_or_default();
    let name = name.split("//").next().unwrap_or(name).trim().trim_matches('"');
    if name.is_empty() || name.len() > NAME_BYTES_MAX {
        return Vec::new();
    }
    let to = directory_of(source.path).to_owned();
    vec![Mapping { kind: MappingKind::GoModule, from: name.to_owned(), to, within: String::new() }]
}

fn package<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    if let Some(name) = node.named_child(0) {
        walk.name_module(walk.text(name));
    }
}

fn function<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    let name = walk.field(node, "name");
    walk.define(Definition::new(node, SymbolKind::Function, name));
    signature(walk, node);
}

fn literal<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    walk.open_frame();
    parameters(walk, node, "parameters");
}

/// What a function takes and gives; of several results the first.
fn signature<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    let result = node.child_by_field_name("result");
    let first = match result {
        Some(list) if list.kind() == "parameter_list" => {
            list.named_child(0).map(|first| first.child_by_field_name("type").unwrap_or(first))
        }
        other => other,
    };
    walk.returns(first);
    parameters(walk, node, "receiver");
    parameters(walk, node, "parameters");
}

fn parameters<'tree>(walk: &mut Walk<'_, 'tree>, function: Node<'tree>, field: &str) {
    let Some(list) = function.child_by_field_name(field) else { return };
    for parameter in list.named_children(&mut list.walk()) {
        let of_type = parameter.child_by_field_name("type").filter(|_| parameter.kind() == "parameter_declaration");
        for name in parameter.children_by_field_name("name", &mut parameter.walk()) {
            walk.parameter(walk.text(name), of_type);
        }
    }
}

/// `a, err := f()`: of several results the first is told.
fn short_declaration<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    let (Some(left), Some(right)) = (node.child_by_field_name("left"), node.child_by_field_name("right")) else {
        return;
    };
    let is_one_by_one = left.named_child_count() == right.named_child_count();
    for (place, name) in left.named_children(&mut left.walk()).enumerate() {
        let value = if is_one_by_one || place == 0 { right.named_child(place as u32) } else { None };
        walk.bind(walk.text(name), None, value);
    }
}

fn range<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    let Some(left) = node.child_by_field_name("left") else { return };
    for name in left.named_children(&mut left.walk()) {
        walk.parameter(walk.text(name), None);
    }
}

fn variable<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    let value = node.child_by_field_name("value").and_then(|values| values.named_child(0));
    declare(walk, node, SymbolKind::Variable);
    for name in node.children_by_field_name("name", &mut node.walk()) {
        walk.bind(walk.text(name), node.child_by_field_name("type"), value);
    }
}

fn constant<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    declare(walk, node, SymbolKind::Constant);
}

/// All of the declaration says what a name is, unless it declares several.
fn declare<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>, kind: SymbolKind) {
    let is_name = |it: &Node<'_>| matches!(it.kind(), "identifier" | "field_identifier");
    let names: Vec<Node<'tree>> = node.children_by_field_name("name", &mut node.walk()).filter(is_name).collect();
    for name in &names {
        walk.declare(if names.len() == 1 { node } else { *name }, kind, walk.text(*name));
    }
}

fn type_alias<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    walk.declare(node, SymbolKind::TypeAlias, walk.field(node, "name"));
}

/// What has no name is embedded: its members are the struct's.
fn struct_field<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    let Some(of_type) = node.child_by_field_name("type").filter(|_| walk.in_type()) else { return };
    let mut is_named = false;
    declare(walk, node, SymbolKind::Field);
    for name in node.children_by_field_name("name", &mut node.walk()) {
        walk.bind(walk.text(name), Some(of_type), None);
        is_named = true;
    }
    if !is_named {
        let written = type_name(walk.text(of_type));
        let name = written.rsplit('.').next().unwrap_or(written).to_owned();
        walk.bind(&name, Some(of_type), None);
        walk.base_around(written, SymbolKind::Struct);
    }
}

/// An interface within an interface.
fn embedded<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    if walk.in_type() && node.named_child_count() == 1 {
        walk.base_around(type_name(walk.text(node)), SymbolKind::Interface);
    }
}

/// Without pointers and type arguments.
fn type_name(written: &str) -> &str {
    let written = written.trim_start_matches('*');
    written.split('[').next().unwrap_or(written).trim()
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
    signature(walk, node);
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
        signature(walk, node);
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
