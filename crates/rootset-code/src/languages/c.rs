//! C: plain names. Definitions are symbols, declarations are not: they would name every function twice.

#![cfg(feature = "grammars-systems")]

use std::sync::OnceLock;

use rootset_model::code::SymbolKind;
use tree_sitter::Node;

use super::cpp::CPP;
use crate::grammar::{Grammar, Rule};
use crate::language::{Language, Sees};
use crate::paths::{directory_of, file_module, is_snake_case_test, resolve_relative};
use crate::reader::Source;
use crate::walk::{Definition, Walk};

pub(crate) static LANGUAGES: &[&Language] = &[&C];

static C: Language = Language {
    name: "c",
    extensions: &["c", "h"],
    is_test: |stem, _| is_snake_case_test(stem),
    sees: Sees::Repository,
    shares: Some(("h", &CPP)),
    grammar: Some(&GRAMMAR),
    told_by_text: |source| is_cpp_header(source).then_some(&CPP),
    ..Language::PLAIN
};

static GRAMMAR: Grammar = Grammar {
    parser: || tree_sitter_c::LANGUAGE.into(),
    module: file_module,
    separator: "::",
    rules: &[
        ("comment", Rule::LEAD),
        ("function_definition", Rule::visit(function)),
        ("preproc_function_def", Rule::visit(macro_function)),
        ("type_definition", Rule::WRAPPER.and(type_definition)),
        ("struct_specifier", Rule::visit(structure)),
        ("union_specifier", Rule::visit(structure)),
        ("enum_specifier", Rule::visit(enumeration)),
        ("call_expression", Rule::visit(call)),
        ("preproc_include", Rule::visit(include)),
        ("string_literal", Rule::SKIP),
    ],
    narrows: false,
    masks: |_| None,
    table: OnceLock::new(),
};

/// What only the other language says, at the beginning of a line.
const CPP_WORDS: [&str; 8] =
    ["class ", "namespace ", "template <", "template<", "public:", "private:", "protected:", "using namespace "];

fn is_cpp_header(source: &Source<'_>) -> bool {
    let says_so = |line: &str| CPP_WORDS.iter().any(|words| line.trim_start().starts_with(words));
    source.path.ends_with(".h") && source.text.lines().any(says_so)
}

fn function<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    if let Some(name) = node.child_by_field_name("declarator").and_then(declared_name) {
        walk.define(Definition::new(node, SymbolKind::Function, walk.text(name)));
    }
}

/// The name in the middle of a declarator: `f` in `*(*f(int))(void)`.
pub(super) fn declared_name(declarator: Node<'_>) -> Option<Node<'_>> {
    let mut node = declarator;
    // Pointers to pointers to functions; deeper ones are not written by people.
    for _ in 0..16 {
        node = match node.kind() {
            "identifier"
            | "field_identifier"
            | "type_identifier"
            | "qualified_identifier"
            | "destructor_name"
            | "operator_name"
            | "operator_cast"
            | "template_function" => return Some(node),
            _ => node.child_by_field_name("declarator").or_else(|| {
                let mut cursor = node.walk();
                node.named_children(&mut cursor)
                    .find(|child| child.kind().ends_with("declarator") || child.kind().ends_with("identifier"))
            })?,
        };
    }
    None
}

pub(super) fn macro_function<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    let name = walk.field(node, "name");
    let body = node.child_by_field_name("value");
    walk.define(Definition { body, ..Definition::new(node, SymbolKind::Function, name) });
}

/// `typedef struct { … } Name;`: the struct has no other name.
pub(super) fn type_definition<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    let Some(of) = node.child_by_field_name("type") else { return };
    let kind = match of.kind() {
        "struct_specifier" | "union_specifier" => SymbolKind::Struct,
        "enum_specifier" => SymbolKind::Enum,
        _ => return,
    };
    let body = of.child_by_field_name("body");
    if body.is_none() || of.child_by_field_name("name").is_some() {
        return;
    }
    if let Some(name) = node.child_by_field_name("declarator").and_then(declared_name) {
        walk.define(Definition { body, ..Definition::new(node, kind, walk.text(name)) });
    }
}

fn structure<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    define_type(walk, node, SymbolKind::Struct);
}

fn enumeration<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    define_type(walk, node, SymbolKind::Enum);
}

/// Without a body it is only mentioned.
fn define_type<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>, kind: SymbolKind) {
    if node.child_by_field_name("body").is_some() {
        let name = walk.field(node, "name");
        // A struct within a struct is visible everywhere.
        walk.define_in(Definition::new(node, kind, name), "");
    }
}

fn call<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    let Some(function) = node.child_by_field_name("function") else { return };
    match function.kind() {
        "identifier" => walk.call(node, function, None),
        "field_expression" => {
            if let Some(name) = function.child_by_field_name("field") {
                walk.call(node, name, function.child_by_field_name("argument"));
            }
        }
        _ => {}
    }
}

/// As written: where it is found is up to the compiler's options, unless it begins with a dot.
pub(super) fn include<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    let path = walk.field(node, "path").trim_matches(['"', '<', '>']);
    let resolved = if path.starts_with('.') { resolve_relative(directory_of(walk.source.path), path) } else { None };
    walk.import(node, resolved.unwrap_or_else(|| path.to_owned()), None);
}
