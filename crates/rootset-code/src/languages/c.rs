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
        ("preproc_def", Rule::visit(macro_constant)),
        ("declaration", Rule::visit(variables)),
        ("field_declaration", Rule::visit(fields)),
        ("enumerator", Rule::visit(enumerator)),
        ("call_expression", Rule::visit(call)),
        ("preproc_include", Rule::visit(include)),
        ("string_literal", Rule::SKIP),
    ],
    scopes_blocks: true,
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
    let Some(declarator) = node.child_by_field_name("declarator") else { return };
    if let Some(name) = declared_name(declarator) {
        walk.define(Definition::new(node, SymbolKind::Function, walk.text(name)));
        parameters(walk, declarator);
    }
}

/// Names that hide functions and constants.
fn parameters<'tree>(walk: &mut Walk<'_, 'tree>, declarator: Node<'tree>) {
    let mut function = declarator;
    // Pointers that are returned stand around it.
    for _ in 0..4 {
        if function.kind() == "function_declarator" {
            break;
        }
        let Some(inner) = function.child_by_field_name("declarator") else { return };
        function = inner;
    }
    let Some(list) = function.child_by_field_name("parameters") else { return };
    for parameter in list.named_children(&mut list.walk()) {
        if let Some(name) = parameter.child_by_field_name("declarator").and_then(declared_name) {
            walk.parameter(walk.text(name), None);
        }
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
    walk.define(Definition { body, ..Definition::new(node, SymbolKind::Macro, name) });
}

/// `#define MAX 10`; a macro without a value only marks.
pub(super) fn macro_constant<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    if node.child_by_field_name("value").is_some() {
        walk.declare(node, SymbolKind::Constant, walk.field(node, "name"));
    }
}

pub(super) fn enumerator<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    walk.declare(node, SymbolKind::EnumMember, walk.field(node, "name"));
}

fn variables<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    declared(walk, node, SymbolKind::Variable);
    for declarator in node.children_by_field_name("declarator", &mut node.walk()).filter(|it| is_variable(*it)) {
        if let Some(name) = declared_name(declarator) {
            walk.variable_now(walk.text(name), None);
        }
    }
}

fn fields<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    declared(walk, node, SymbolKind::Field);
}

/// The names of a declaration that are no functions. `extern` says that they are defined elsewhere.
pub(super) fn declared<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>, kind: SymbolKind) {
    let mut cursor = node.walk();
    let mut words = node.named_children(&mut cursor);
    let is_elsewhere = words.any(|it| it.kind() == "storage_class_specifier" && walk.text(it) == "extern");
    let mut cursor = node.walk();
    let mut qualifiers = node.named_children(&mut cursor).filter(|it| it.kind() == "type_qualifier");
    let is_fixed = qualifiers.any(|it| matches!(walk.text(it), "const" | "constexpr"));
    let kind = if is_fixed && kind == SymbolKind::Variable { SymbolKind::Constant } else { kind };
    for declarator in node.children_by_field_name("declarator", &mut node.walk()) {
        if is_elsewhere || !is_variable(declarator) {
            continue;
        }
        if let Some(name) = declared_name(declarator) {
            walk.declare(declarator, kind, walk.text(name));
        }
    }
}

/// Pointers to functions are variables, functions are none.
fn is_variable(declarator: Node<'_>) -> bool {
    let mut node = declarator;
    for _ in 0..16 {
        match node.kind() {
            "function_declarator" => {
                let inner = node.child_by_field_name("declarator");
                return inner.is_some_and(|inner| inner.kind() == "parenthesized_declarator");
            }
            _ => match node.child_by_field_name("declarator") {
                Some(inner) => node = inner,
                None => return true,
            },
        }
    }
    false
}

/// `typedef struct { … } Name;`: the struct has no other name.
pub(super) fn type_definition<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    let Some(of) = node.child_by_field_name("type") else { return };
    let kind = match of.kind() {
        "struct_specifier" | "union_specifier" => SymbolKind::Struct,
        "enum_specifier" => SymbolKind::Enum,
        _ => return alias(walk, node),
    };
    let body = of.child_by_field_name("body");
    if body.is_none() || of.child_by_field_name("name").is_some() {
        return alias(walk, node);
    }
    if let Some(name) = node.child_by_field_name("declarator").and_then(declared_name) {
        walk.define(Definition { body, ..Definition::new(node, kind, walk.text(name)) });
    }
}

/// `typedef unsigned char byte;`
fn alias<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    let (of, name) = (walk.field(node, "type"), node.child_by_field_name("declarator").and_then(declared_name));
    let name = name.map_or("", |name| walk.text(name));
    // `typedef struct list list;` is no other name.
    if of.rsplit(' ').next() != Some(name) {
        walk.declare(node, SymbolKind::TypeAlias, name);
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
