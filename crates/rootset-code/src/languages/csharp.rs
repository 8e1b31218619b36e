//! C#: names begin at the namespace; attributes are calls.

#![cfg(feature = "grammars-managed")]

use std::sync::OnceLock;

use rootset_model::code::SymbolKind;
use tree_sitter::Node;

use crate::grammar::{Grammar, Rule};
use crate::language::{Language, Naming, Sees};
use crate::paths::{file_module, is_camel_case_test};
use crate::walk::{Definition, Walk};

pub(crate) static LANGUAGES: &[&Language] = &[&CSHARP];

static CSHARP: Language = Language {
    name: "csharp",
    aliases: &["c#"],
    extensions: &["cs", "csx"],
    lock_files: &["packages.lock.json"],
    is_test: |stem, extension| extension == "cs" && is_camel_case_test(stem),
    sees: Sees::Folder,
    naming: Naming::Namespaces,
    own_receivers: &["this"],
    base_receivers: &["base"],
    has_implicit_members: true,
    grammar: Some(&GRAMMAR),
    ..Language::PLAIN
};

static GRAMMAR: Grammar = Grammar {
    parser: || tree_sitter_c_sharp::LANGUAGE.into(),
    module: file_module,
    separator: ".",
    rules: &[
        ("comment", Rule::LEAD),
        ("attribute_list", Rule::LEAD),
        ("attribute", Rule::visit(attribute)),
        ("namespace_declaration", Rule::visit(namespace)),
        ("file_scoped_namespace_declaration", Rule::visit(file_namespace)),
        ("using_directive", Rule::visit(using)),
        ("class_declaration", Rule::visit(class)),
        ("record_declaration", Rule::visit(record)),
        ("struct_declaration", Rule::visit(structure)),
        ("interface_declaration", Rule::visit(interface)),
        ("enum_declaration", Rule::visit(enumeration)),
        ("method_declaration", Rule::visit(method)),
        ("constructor_declaration", Rule::visit(method)),
        ("destructor_declaration", Rule::visit(destructor)),
        ("operator_declaration", Rule::visit(operator)),
        ("local_function_statement", Rule::visit(local_function)),
        ("invocation_expression", Rule::visit(call)),
        ("lambda_expression", Rule::visit(lambda)),
        ("variable_declaration", Rule::visit(variables)),
        ("property_declaration", Rule::visit(property)),
        ("enum_member_declaration", Rule::visit(enum_member)),
        ("foreach_statement", Rule::visit(each)),
        ("declaration_pattern", Rule::visit(pattern)),
        ("object_creation_expression", Rule::visit(construction)),
        ("string_literal", Rule::SKIP),
    ],
    scopes_blocks: true,
    narrows: false,
    masks: |_| None,
    table: OnceLock::new(),
};

/// The first one names the file, too.
fn namespace<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    let name = walk.field(node, "name");
    if walk.prefix().is_empty() && walk.module.qualified == file_module(walk.source).qualified {
        walk.module.qualified = name.to_owned();
    }
    walk.open_namespace(name);
}

fn file_namespace<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    let name = walk.field(node, "name");
    walk.name_module(name);
}

/// `using A.B;`, `using C = A.B;`, `using static A.B;`
fn using<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    let alias = node.child_by_field_name("name");
    let mut cursor = node.walk();
    let target = node.named_children(&mut cursor).filter(|child| Some(*child) != alias).last();
    if let Some(target) = target {
        let target = type_name(walk, target).to_owned();
        walk.import(node, target, alias.map(|alias| walk.text(alias)));
    }
}

fn class<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    define_type(walk, node, SymbolKind::Class);
}

/// `record struct` or not.
fn record<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    let mut cursor = node.walk();
    let is_struct =
        node.children(&mut cursor).take_while(|child| child.kind() != "identifier").any(|it| it.kind() == "struct");
    define_type(walk, node, if is_struct { SymbolKind::Struct } else { SymbolKind::Class });
}

fn structure<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    define_type(walk, node, SymbolKind::Struct);
}

fn interface<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    define_type(walk, node, SymbolKind::Interface);
}

/// The base of an enum is a number.
fn enumeration<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    let name = walk.field(node, "name");
    walk.define(Definition::new(node, SymbolKind::Enum, name));
}

fn define_type<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>, kind: SymbolKind) {
    let name = walk.field(node, "name");
    walk.define(Definition::new(node, kind, name));
    let mut cursor = node.walk();
    let Some(bases) = node.named_children(&mut cursor).find(|child| child.kind() == "base_list") else { return };
    for base in bases.named_children(&mut bases.walk()) {
        let base = base.child_by_field_name("type").unwrap_or(base);
        if base.kind() != "argument_list" {
            let name = type_name(walk, base);
            walk.base(name, base_kind(name, kind));
        }
    }
}

/// Only a class has a base that is none of the interfaces, and those begin with `I`.
fn base_kind(name: &str, of: SymbolKind) -> SymbolKind {
    let last = name.rsplit('.').next().unwrap_or(name).as_bytes();
    let is_interface = matches!(last, [b'I', second, ..] if second.is_ascii_uppercase());
    if of == SymbolKind::Class && !is_interface { SymbolKind::Class } else { SymbolKind::Interface }
}

/// Without type arguments.
fn type_name<'a>(walk: &Walk<'a, '_>, node: Node<'_>) -> &'a str {
    let text = walk.text(node);
    text.split('<').next().unwrap_or(text).trim_end()
}

fn method<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    let name = walk.field(node, "name");
    walk.define(Definition::new(node, SymbolKind::Method, name));
    signature(walk, node);
}

fn signature<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    walk.returns(node.child_by_field_name("returns").or_else(|| node.child_by_field_name("type")));
    parameters(walk, node);
}

fn lambda<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    walk.open_frame();
    parameters(walk, node);
}

fn parameters<'tree>(walk: &mut Walk<'_, 'tree>, function: Node<'tree>) {
    let Some(list) = function.child_by_field_name("parameters") else { return };
    for parameter in list.named_children(&mut list.walk()).filter(|it| it.kind() == "parameter") {
        walk.parameter(walk.field(parameter, "name"), declared_type(walk, parameter));
    }
}

/// `None` for `var`.
fn declared_type<'tree>(walk: &Walk<'_, 'tree>, node: Node<'tree>) -> Option<Node<'tree>> {
    node.child_by_field_name("type").filter(|of| walk.text(*of) != "var")
}

fn variables<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    let of_type = declared_type(walk, node);
    for declarator in node.named_children(&mut node.walk()).filter(|it| it.kind() == "variable_declarator") {
        let name = declarator.child_by_field_name("name").or_else(|| declarator.named_child(0));
        let last = declarator.named_children(&mut declarator.walk()).last();
        let value = last.filter(|value| Some(*value) != name);
        walk.declare(declarator, SymbolKind::Field, name.map_or("", |name| walk.text(name)));
        walk.bind(name.map_or("", |name| walk.text(name)), of_type, value);
    }
}

fn property<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    walk.declare(node, SymbolKind::Property, walk.field(node, "name"));
    walk.bind(walk.field(node, "name"), node.child_by_field_name("type"), None);
}

fn enum_member<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    walk.declare(node, SymbolKind::EnumMember, walk.field(node, "name"));
}

fn each<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    walk.parameter(walk.field(node, "left"), declared_type(walk, node));
}

/// `x is Store store`
fn pattern<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    walk.parameter(walk.field(node, "name"), declared_type(walk, node));
}

fn destructor<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    let name = ["~", walk.field(node, "name")].concat();
    walk.define(Definition::new(node, SymbolKind::Method, &name));
}

fn operator<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    let name = ["operator", walk.field(node, "operator")].concat();
    walk.define(Definition::new(node, SymbolKind::Method, &name));
}

fn local_function<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    let name = walk.field(node, "name");
    walk.define(Definition::new(node, SymbolKind::Function, name));
    signature(walk, node);
}

fn call<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    let Some(function) = node.child_by_field_name("function") else { return };
    let (name, receiver) = match function.kind() {
        "member_access_expression" => {
            (function.child_by_field_name("name"), function.child_by_field_name("expression"))
        }
        "member_binding_expression" => (function.child_by_field_name("name"), None),
        "conditional_access_expression" => {
            let mut cursor = function.walk();
            let member = function.named_children(&mut cursor).find(|it| it.kind() == "member_binding_expression");
            (member.and_then(|it| it.child_by_field_name("name")), function.child_by_field_name("condition"))
        }
        "identifier" | "generic_name" => (Some(function), None),
        _ => return,
    };
    if let Some(name) = name {
        let receiver = receiver.map_or("", |receiver| walk.text(receiver));
        walk.call_named(node, type_name(walk, name), receiver, name);
    }
}

fn construction<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    if let Some(of) = node.child_by_field_name("type") {
        let name = type_name(walk, of);
        let (receiver, name) = name.rsplit_once('.').unwrap_or(("", name));
        walk.call_named(node, name, receiver, of);
    }
}

fn attribute<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    if let Some(of) = node.child_by_field_name("name") {
        let name = type_name(walk, of);
        let (receiver, name) = name.rsplit_once('.').unwrap_or(("", name));
        walk.call_named(node, name, receiver, of);
    }
}
