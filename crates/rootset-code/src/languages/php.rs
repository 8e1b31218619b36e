//! PHP: namespaces with `\`, members with `::`.

#![cfg(feature = "grammars-web")]

use std::sync::OnceLock;

use rootset_model::code::SymbolKind;
use tree_sitter::Node;

use crate::grammar::{Grammar, Rule};
use crate::language::{Language, Naming, Sees};
use crate::paths::{file_module, is_camel_case_test};
use crate::walk::{Definition, Walk};

pub(crate) static LANGUAGES: &[&Language] = &[&PHP];

static PHP: Language = Language {
    name: "php",
    extensions: &["php", "phtml", "php5"],
    file_names: &["artisan"],
    interpreters: &["php"],
    lock_files: &["composer.lock"],
    is_test: |stem, extension| extension == "php" && is_camel_case_test(stem),
    sees: Sees::Folder,
    naming: Naming::Namespaces,
    own_receivers: &["$this", "self", "static"],
    base_receivers: &["parent"],
    grammar: Some(&GRAMMAR),
    ..Language::PLAIN
};

static GRAMMAR: Grammar = Grammar {
    parser: || tree_sitter_php::LANGUAGE_PHP.into(),
    module: file_module,
    separator: "\\",
    rules: &[
        ("comment", Rule::LEAD),
        ("attribute_list", Rule::LEAD),
        ("attribute", Rule::visit(first_name_call)),
        ("namespace_definition", Rule::visit(namespace)),
        ("namespace_use_declaration", Rule::visit(import)),
        ("function_definition", Rule::visit(function)),
        ("method_declaration", Rule::visit(method)),
        ("class_declaration", Rule::visit(class)),
        ("interface_declaration", Rule::visit(interface)),
        ("trait_declaration", Rule::visit(a_trait)),
        ("enum_declaration", Rule::visit(enumeration)),
        ("use_declaration", Rule::visit(use_trait)),
        ("function_call_expression", Rule::visit(call)),
        ("anonymous_function", Rule::visit(closure)),
        ("arrow_function", Rule::visit(closure)),
        ("assignment_expression", Rule::visit(assignment)),
        ("property_declaration", Rule::visit(property)),
        ("const_element", Rule::visit(constant)),
        ("enum_case", Rule::visit(enum_case)),
        ("foreach_statement", Rule::visit(each)),
        ("member_call_expression", Rule::visit(member_call)),
        ("nullsafe_member_call_expression", Rule::visit(member_call)),
        ("scoped_call_expression", Rule::visit(scoped_call)),
        ("object_creation_expression", Rule::visit(first_name_call)),
        ("string", Rule::SKIP),
    ],
    scopes_blocks: false,
    narrows: false,
    masks: |_| None,
    table: OnceLock::new(),
};

/// `namespace A;` names the file, `namespace A { … }` its block.
fn namespace<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    let name = walk.field(node, "name");
    if node.child_by_field_name("body").is_some() {
        walk.open_namespace(name);
    } else {
        walk.name_module(name);
    }
}

/// `use A\B as C, D;` and `use A\{B, C as D};`
fn import<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    let group = node.child_by_field_name("body");
    let mut cursor = node.walk();
    let prefix = node.named_children(&mut cursor).find(|child| child.kind() == "namespace_name");
    let prefix = prefix.filter(|_| group.is_some()).map(|prefix| walk.text(prefix));
    let clauses = group.unwrap_or(node);
    for clause in clauses.named_children(&mut clauses.walk()).filter(|it| it.kind() == "namespace_use_clause") {
        let Some(name) = first_name(clause) else { continue };
        let name = walk.text(name).trim_start_matches('\\');
        let target = prefix.map_or_else(|| name.to_owned(), |prefix| [prefix, "\\", name].concat());
        let local = match walk.field(clause, "alias") {
            "" => name.rsplit('\\').next().unwrap_or(name),
            alias => alias,
        };
        walk.import(clause, target.trim_start_matches('\\').to_owned(), Some(local));
    }
}

fn first_name(node: Node<'_>) -> Option<Node<'_>> {
    let mut cursor = node.walk();
    node.named_children(&mut cursor).find(|child| matches!(child.kind(), "name" | "qualified_name" | "relative_name"))
}

fn function<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    let name = walk.field(node, "name");
    walk.define(Definition::new(node, SymbolKind::Function, name));
    signature(walk, node);
}

fn signature<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    walk.returns(node.child_by_field_name("return_type"));
    parameters(walk, node);
}

fn closure<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    walk.open_frame();
    parameters(walk, node);
}

fn parameters<'tree>(walk: &mut Walk<'_, 'tree>, function: Node<'tree>) {
    let Some(list) = function.child_by_field_name("parameters") else { return };
    for parameter in list.named_children(&mut list.walk()) {
        let (name, of_type) = (walk.field(parameter, "name"), parameter.child_by_field_name("type"));
        walk.parameter(name, of_type);
        // `__construct(private Store $store)`
        if parameter.kind() == "property_promotion_parameter" {
            let from = walk.told(of_type, None);
            walk.declare_own(parameter, name.trim_start_matches('$'));
            walk.own_member(name.trim_start_matches('$'), from);
        }
    }
}

fn assignment<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    let (Some(left), value) = (node.child_by_field_name("left"), node.child_by_field_name("right")) else { return };
    match left.kind() {
        "variable_name" => walk.bind(walk.text(left), None, value),
        "member_access_expression" if walk.field(left, "object") == "$this" => {
            let from = walk.told(None, value);
            walk.own_member(walk.field(left, "name"), from);
        }
        _ => {}
    }
}

fn property<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    let of_type = node.child_by_field_name("type");
    for element in node.named_children(&mut node.walk()).filter(|it| it.kind() == "property_element") {
        let name = element.named_child(0).map_or("", |name| walk.text(name));
        walk.declare(element, SymbolKind::Property, name.trim_start_matches('$'));
        walk.bind(name.trim_start_matches('$'), of_type, None);
    }
}

fn constant<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    let name = node.named_child(0).map_or("", |name| walk.text(name));
    walk.declare(node, SymbolKind::Constant, name);
}

fn enum_case<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    walk.declare(node, SymbolKind::EnumMember, walk.field(node, "name"));
}

fn each<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    for name in node.named_children(&mut node.walk()).skip(1).filter(|it| it.kind() == "variable_name") {
        walk.parameter(walk.text(name), None);
    }
}

fn method<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    let name = walk.field(node, "name");
    walk.define(Definition { joint: Some("::"), ..Definition::new(node, SymbolKind::Method, name) });
    signature(walk, node);
}

fn class<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    define_type(walk, node, SymbolKind::Class);
}

fn interface<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    define_type(walk, node, SymbolKind::Interface);
}

fn a_trait<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    define_type(walk, node, SymbolKind::Trait);
}

fn enumeration<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    define_type(walk, node, SymbolKind::Enum);
}

fn define_type<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>, kind: SymbolKind) {
    let name = walk.field(node, "name");
    walk.define(Definition::new(node, kind, name));
    for clause in node.named_children(&mut node.walk()) {
        let base_kind = match clause.kind() {
            "base_clause" if kind == SymbolKind::Class => SymbolKind::Class,
            "base_clause" | "class_interface_clause" => SymbolKind::Interface,
            _ => continue,
        };
        for base in clause.named_children(&mut clause.walk()) {
            walk.base(walk.text(base).trim_start_matches('\\'), base_kind);
        }
    }
}

/// `use Trait;` in a class.
fn use_trait<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    for base in node.named_children(&mut node.walk()) {
        if matches!(base.kind(), "name" | "qualified_name" | "relative_name") {
            walk.base_around(walk.text(base).trim_start_matches('\\'), SymbolKind::Trait);
        }
    }
}

fn call<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    let function = node.child_by_field_name("function");
    if let Some(name) = function.filter(|it| matches!(it.kind(), "name" | "qualified_name" | "relative_name")) {
        qualified_call(walk, node, name);
    }
}

fn member_call<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    call_on(walk, node, "object");
}

fn scoped_call<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    call_on(walk, node, "scope");
}

fn call_on<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>, receiver: &str) {
    // `$object->$name()` calls what nobody knows.
    if let Some(name) = node.child_by_field_name("name").filter(|name| name.kind() == "name") {
        walk.call(node, name, node.child_by_field_name(receiver));
    }
}

/// `new A\B(…)` and `#[A\B]`
fn first_name_call<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    if let Some(name) = first_name(node) {
        qualified_call(walk, node, name);
    }
}

fn qualified_call<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>, name: Node<'tree>) {
    let written = walk.text(name);
    let (receiver, last) = written.rsplit_once('\\').unwrap_or(("", written));
    walk.call_named(node, last, receiver, name);
}
