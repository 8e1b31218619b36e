//! Java: names begin at the package clause; everything is a member.

#![cfg(feature = "grammars-managed")]

use std::sync::OnceLock;

use rootset_model::code::SymbolKind;
use tree_sitter::Node;

use crate::grammar::{Grammar, Rule};
use crate::language::{Language, Naming, Sees};
use crate::paths::{file_module, is_camel_case_test};
use crate::walk::{Definition, Walk};

pub(crate) static LANGUAGES: &[&Language] = &[&JAVA];

static JAVA: Language = Language {
    name: "java",
    extensions: &["java"],
    is_test: |stem, _| is_camel_case_test(stem),
    sees: Sees::Folder,
    naming: Naming::Namespaces,
    own_receivers: &["this"],
    base_receivers: &["super"],
    has_implicit_members: true,
    grammar: Some(&GRAMMAR),
    ..Language::PLAIN
};

static GRAMMAR: Grammar = Grammar {
    parser: || tree_sitter_java::LANGUAGE.into(),
    module: file_module,
    separator: ".",
    rules: &[
        ("line_comment", Rule::LEAD),
        ("block_comment", Rule::LEAD),
        ("package_declaration", Rule::visit(package)),
        ("import_declaration", Rule::visit(import)),
        ("class_declaration", Rule::visit(class)),
        ("record_declaration", Rule::visit(class)),
        ("interface_declaration", Rule::visit(interface)),
        ("annotation_type_declaration", Rule::visit(interface)),
        ("enum_declaration", Rule::visit(enumeration)),
        ("method_declaration", Rule::visit(method)),
        ("constructor_declaration", Rule::visit(method)),
        ("compact_constructor_declaration", Rule::visit(method)),
        ("method_invocation", Rule::visit(call)),
        ("lambda_expression", Rule::visit(lambda)),
        ("local_variable_declaration", Rule::visit(variables)),
        ("field_declaration", Rule::visit(fields)),
        ("constant_declaration", Rule::visit(fields)),
        ("enum_constant", Rule::visit(enum_constant)),
        ("enhanced_for_statement", Rule::visit(named)),
        ("catch_formal_parameter", Rule::visit(named)),
        ("resource", Rule::visit(named)),
        ("instanceof_expression", Rule::visit(named)),
        ("object_creation_expression", Rule::visit(construction)),
        ("annotation", Rule::visit(annotation)),
        ("marker_annotation", Rule::visit(annotation)),
    ],
    scopes_blocks: true,
    narrows: false,
    masks: |_| None,
    table: OnceLock::new(),
};

fn package<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    if let Some(name) = last_name(node) {
        walk.name_module(walk.text(name));
    }
}

fn last_name(node: Node<'_>) -> Option<Node<'_>> {
    let mut cursor = node.walk();
    node.named_children(&mut cursor).filter(|child| matches!(child.kind(), "identifier" | "scoped_identifier")).last()
}

/// `import a.b.C;`, `import a.b.*;`, `import static a.b.C.f;`
fn import<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    let Some(name) = last_name(node) else { return };
    let target = walk.text(name);
    let mut cursor = node.walk();
    let everything = node.named_children(&mut cursor).any(|child| child.kind() == "asterisk");
    let local = target.rsplit('.').next().filter(|_| !everything);
    walk.import(node, target.to_owned(), local);
}

fn class<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    define_type(walk, node, SymbolKind::Class);
}

fn interface<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    define_type(walk, node, SymbolKind::Interface);
}

fn enumeration<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    define_type(walk, node, SymbolKind::Enum);
}

fn define_type<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>, kind: SymbolKind) {
    let name = walk.field(node, "name");
    walk.define(Definition::new(node, kind, name));
    // The parts of a record are its fields.
    if let Some(list) = node.child_by_field_name("parameters") {
        for part in list.named_children(&mut list.walk()).filter(|part| part.kind() == "formal_parameter") {
            walk.declare(part, SymbolKind::Field, walk.field(part, "name"));
            walk.bind(walk.field(part, "name"), part.child_by_field_name("type"), None);
        }
    }
    for clause in node.named_children(&mut node.walk()) {
        match clause.kind() {
            "superclass" => {
                if let Some(base) = clause.named_child(0) {
                    walk.base(type_name(walk, base), SymbolKind::Class);
                }
            }
            "super_interfaces" | "extends_interfaces" => {
                let Some(list) = clause.named_child(0) else { continue };
                for base in list.named_children(&mut list.walk()) {
                    walk.base(type_name(walk, base), SymbolKind::Interface);
                }
            }
            _ => {}
        }
    }
}

/// Without type arguments.
fn type_name<'a>(walk: &Walk<'a, '_>, node: Node<'_>) -> &'a str {
    let text = walk.text(node);
    text.split('<').next().unwrap_or(text).trim_end()
}

fn method<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    let name = walk.field(node, "name");
    walk.define(Definition::new(node, SymbolKind::Method, name));
    walk.returns(node.child_by_field_name("type"));
    parameters(walk, node);
}

fn lambda<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    walk.open_frame();
    parameters(walk, node);
}

fn parameters<'tree>(walk: &mut Walk<'_, 'tree>, function: Node<'tree>) {
    let Some(list) = function.child_by_field_name("parameters") else { return };
    if list.kind() == "identifier" {
        return walk.parameter(walk.text(list), None);
    }
    for parameter in list.named_children(&mut list.walk()) {
        match parameter.kind() {
            "formal_parameter" => walk.parameter(walk.field(parameter, "name"), declared_type(walk, parameter)),
            "identifier" => walk.parameter(walk.text(parameter), None),
            _ => {}
        }
    }
}

/// `None` for `var`.
fn declared_type<'tree>(walk: &Walk<'_, 'tree>, node: Node<'tree>) -> Option<Node<'tree>> {
    node.child_by_field_name("type").filter(|of| walk.text(*of) != "var")
}

fn variables<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    let of_type = declared_type(walk, node);
    for declarator in node.children_by_field_name("declarator", &mut node.walk()) {
        walk.bind(walk.field(declarator, "name"), of_type, declarator.child_by_field_name("value"));
    }
}

/// What nobody can change is a constant; in an interface everything is.
fn fields<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    let mut cursor = node.walk();
    let modifiers = node.named_children(&mut cursor).find(|child| child.kind() == "modifiers");
    let words = modifiers.map_or("", |modifiers| walk.text(modifiers));
    let is_fixed = words.contains("static") && words.contains("final") || node.kind() == "constant_declaration";
    let kind = if is_fixed { SymbolKind::Constant } else { SymbolKind::Field };
    for declarator in node.children_by_field_name("declarator", &mut node.walk()) {
        walk.declare(declarator, kind, walk.field(declarator, "name"));
    }
    variables(walk, node);
}

fn enum_constant<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    walk.declare(node, SymbolKind::EnumMember, walk.field(node, "name"));
}

/// What has a type and a name: the element of a loop, what is caught, what a test tells.
fn named<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    let Some(name) = node.child_by_field_name("name") else { return };
    let of_type = declared_type(walk, node).or_else(|| node.child_by_field_name("right"));
    let from = walk.told(of_type, node.child_by_field_name("value").filter(|_| node.kind() == "resource"));
    walk.variable_now(walk.text(name), from);
}

fn call<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    if let Some(name) = node.child_by_field_name("name") {
        walk.call(node, name, node.child_by_field_name("object"));
    }
}

fn construction<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    if let Some(of) = node.child_by_field_name("type") {
        let name = type_name(walk, of);
        let (receiver, name) = name.rsplit_once('.').unwrap_or(("", name));
        walk.call_named(node, name, receiver, of);
    }
}

fn annotation<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    if let Some(name) = node.child_by_field_name("name") {
        let text = walk.text(name);
        let (receiver, last) = text.rsplit_once('.').unwrap_or(("", text));
        walk.call_named(node, last, receiver, name);
    }
}
