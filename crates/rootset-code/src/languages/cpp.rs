//! C++: namespaces and classes, members defined inside and outside of them.

#![cfg(feature = "grammars-systems")]

use std::sync::OnceLock;

use rootset_model::code::SymbolKind;
use tree_sitter::Node;

use super::c::{declared, declared_name, enumerator, include, macro_constant, macro_function, type_definition};
use crate::grammar::{Grammar, Rule};
use crate::language::{Language, Naming, Sees};
use crate::paths::{file_module, is_snake_case_test};
use crate::walk::{Definition, Walk};

pub(crate) static LANGUAGES: &[&Language] = &[&CPP];

pub(super) static CPP: Language = Language {
    name: "cpp",
    aliases: &["c++"],
    extensions: &["cpp", "cc", "cxx", "c++", "hpp", "hh", "hxx", "h++", "ipp", "tpp", "inl", "ino"],
    is_test: |stem, extension| matches!(extension, "cpp" | "cc" | "cxx" | "hpp") && is_snake_case_test(stem),
    family: Some("c"),
    sees: Sees::Repository,
    naming: Naming::Namespaces,
    own_receivers: &["this"],
    has_implicit_members: true,
    grammar: Some(&GRAMMAR),
    ..Language::PLAIN
};

static GRAMMAR: Grammar = Grammar {
    parser: || tree_sitter_cpp::LANGUAGE.into(),
    module: file_module,
    separator: "::",
    rules: &[
        ("comment", Rule::LEAD),
        ("attribute_declaration", Rule::LEAD),
        ("template_declaration", Rule::WRAPPER),
        ("namespace_definition", Rule::visit(namespace)),
        ("function_definition", Rule::visit(function)),
        ("field_declaration", Rule::visit(member)),
        ("preproc_function_def", Rule::visit(macro_function)),
        ("preproc_def", Rule::visit(macro_constant)),
        ("alias_declaration", Rule::visit(alias)),
        ("enumerator", Rule::visit(enumerator)),
        ("type_definition", Rule::WRAPPER.and(type_definition)),
        ("class_specifier", Rule::visit(class)),
        ("struct_specifier", Rule::visit(structure)),
        ("union_specifier", Rule::visit(structure)),
        ("enum_specifier", Rule::visit(enumeration)),
        ("call_expression", Rule::visit(call)),
        ("lambda_expression", Rule::visit(lambda)),
        ("declaration", Rule::visit(variables)),
        ("for_range_loop", Rule::visit(each)),
        ("new_expression", Rule::visit(construction)),
        ("preproc_include", Rule::visit(include)),
        ("using_declaration", Rule::visit(using)),
        ("string_literal", Rule::SKIP),
    ],
    scopes_blocks: true,
    narrows: false,
    masks: export_macros,
    table: OnceLock::new(),
};

/// Shorter names in capitals are types: `T`, `OS`.
const MACRO_CHARS_MIN: usize = 3;

/// `class FOO_EXPORT Bar` reads as a function of type `FOO_EXPORT`: the macro says how to link, nothing of syntax.
fn export_macros(text: &str) -> Option<String> {
    let mut masked: Option<Vec<u8>> = None;
    for keyword in ["class ", "struct "] {
        for (at, _) in text.match_indices(keyword) {
            let is_word = !text[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
            let start = at + keyword.len();
            let Some(length) = macro_length(&text[start..]).filter(|_| is_word) else { continue };
            let bytes = masked.get_or_insert_with(|| text.as_bytes().to_vec());
            bytes[start..start + length].fill(b' ');
        }
    }
    for (at, name) in annotations(text) {
        let bytes = masked.get_or_insert_with(|| text.as_bytes().to_vec());
        bytes[at..at + name].fill(b' ');
    }
    masked.and_then(|bytes| String::from_utf8(bytes).ok())
}

/// `Table* table_ GUARDED_BY(mutex_);` reads as a function: places and lengths of such macros. A type and a name stand
/// before them, and nothing but the end of the declaration behind.
fn annotations(text: &str) -> Vec<(usize, usize)> {
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '*' | '&' | ':' | '<' | '>' | ' ' | ',');
    let mut found = Vec::new();
    for line in text.lines() {
        let Some((before, _)) = line.split_once('(').filter(|_| line.trim_end().ends_with(");")) else { continue };
        let name = before.bytes().rev().take_while(|it| it.is_ascii_uppercase() || *it == b'_').count();
        let start = before.len() - name;
        let declared = before[..start].trim_end();
        let mut words = declared.split_whitespace();
        let is_statement =
            matches!(words.next(), None | Some("return" | "throw" | "else" | "case" | "using" | "typedef"));
        let is_declaration = words.next().is_some()
            && declared.len() < start
            && declared.ends_with(|c: char| c.is_alphanumeric() || c == '_')
            && declared.chars().all(is_plain);
        if name >= MACRO_CHARS_MIN && is_declaration && !is_statement {
            let at = line.as_ptr() as usize - text.as_ptr() as usize + start;
            found.push((at, line.trim_end().len() - start - 1));
        }
    }
    found
}

/// The bytes of a name in capitals, with arguments or not, that another name follows on the same line.
fn macro_length(text: &str) -> Option<usize> {
    let name = text.bytes().take_while(|it| it.is_ascii_uppercase() || it.is_ascii_digit() || *it == b'_').count();
    let mut end = name;
    if text[end..].starts_with('(') {
        end += text[end..].find([')', '\n']).filter(|&at| text.as_bytes()[end + at] == b')')? + 1;
    }
    let behind = &text[end..];
    let next = behind.trim_start_matches(' ');
    let follows = next.len() < behind.len() && next.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    // `struct FILE final` is called so.
    let is_last = ["final", "override"].iter().any(|word| next.starts_with(word));
    // `struct POINT p;` declares a variable: a type is followed by its bases or its body.
    let after = next.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '_').trim_start();
    let defines = after.starts_with(['{', ':', '<']) || after.starts_with("final");
    (name >= MACRO_CHARS_MIN && follows && !is_last && defines).then_some(end)
}

/// Also `namespace a::b {`; one without a name adds nothing.
fn namespace<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    let name = walk.field(node, "name");
    walk.open_namespace(name);
}

fn function<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    let Some(name) = node.child_by_field_name("declarator").and_then(declared_name) else { return };
    define_function(walk, node, name);
}

/// What a function takes and gives.
fn signature<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    walk.returns(node.child_by_field_name("type"));
    let Some(mut declarator) = node.child_by_field_name("declarator") else { return };
    // Pointers and references to what is returned stand around it.
    for _ in 0..4 {
        if declarator.kind() == "function_declarator" {
            return parameters(walk, declarator);
        }
        let mut cursor = declarator.walk();
        let inner = declarator.named_children(&mut cursor).find(|child| child.kind().ends_with("declarator"));
        let Some(inner) = inner else { return };
        declarator = inner;
    }
}

fn lambda<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    walk.open_frame();
    if let Some(declarator) = node.child_by_field_name("declarator") {
        parameters(walk, declarator);
    }
}

fn parameters<'tree>(walk: &mut Walk<'_, 'tree>, declarator: Node<'tree>) {
    let Some(list) = declarator.child_by_field_name("parameters") else { return };
    for parameter in list.named_children(&mut list.walk()) {
        let Some(name) = parameter.child_by_field_name("declarator").and_then(declared_name) else { continue };
        walk.parameter(walk.text(name), declared_type(walk, parameter));
    }
}

/// `None` for `auto`.
fn declared_type<'tree>(walk: &Walk<'_, 'tree>, node: Node<'tree>) -> Option<Node<'tree>> {
    node.child_by_field_name("type").filter(|of| !matches!(walk.text(*of), "auto" | "decltype(auto)"))
}

fn variables<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    let of_type = declared_type(walk, node);
    declared(walk, node, SymbolKind::Variable);
    for declarator in node.children_by_field_name("declarator", &mut node.walk()) {
        let value = declarator.child_by_field_name("value");
        if let Some(name) = declared_name(declarator).filter(|_| declarator.kind() != "function_declarator") {
            walk.bind(walk.text(name), of_type, value);
        }
    }
}

/// `using Names = std::vector<Name>;`
fn alias<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    walk.declare(node, SymbolKind::TypeAlias, walk.field(node, "name"));
}

fn each<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    if let Some(name) = node.child_by_field_name("declarator").and_then(declared_name) {
        walk.parameter(walk.text(name), declared_type(walk, node));
    }
}

fn member<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    let declarator = node.child_by_field_name("declarator");
    declared(walk, node, SymbolKind::Field);
    if let Some(name) = declarator.filter(|it| it.kind() != "function_declarator").and_then(declared_name) {
        walk.bind(walk.text(name), declared_type(walk, node), None);
    }
    pure_virtual(walk, node);
}

/// `virtual void f() = 0;` is nowhere else defined than here.
fn pure_virtual<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    if walk.field(node, "default_value") != "0" {
        return;
    }
    let Some(declarator) = node.child_by_field_name("declarator") else { return };
    let mut is_function = declarator;
    while is_function.kind() == "pointer_declarator" {
        match is_function.child_by_field_name("declarator") {
            Some(inner) => is_function = inner,
            None => return,
        }
    }
    if let ("function_declarator", Some(name)) = (is_function.kind(), declared_name(declarator)) {
        define_function(walk, node, name);
    }
}

/// `void A::b() {}` is a member of `A`, wherever it stands.
fn define_function<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>, name: Node<'tree>) {
    let written = without_templates(walk.text(name));
    match written.rsplit_once("::") {
        Some((scope, name)) if !scope.is_empty() => {
            let prefix = walk.qualify(scope.trim_start_matches("::"));
            let kind = if walk.is_namespace(&prefix) { SymbolKind::Function } else { SymbolKind::Method };
            walk.define_in(Definition::new(node, kind, name), &prefix);
        }
        _ => walk.define(Definition::new(node, walk.function_kind(), written.trim_start_matches("::"))),
    }
    signature(walk, node);
}

/// `Box<T>::get` is `Box::get`; white space is collapsed. The signs of operators stay.
fn without_templates(written: &str) -> String {
    let (scope, operator) = match written.find("operator") {
        Some(at) => written.split_at(at),
        None => (written, ""),
    };
    let mut out = String::with_capacity(written.len());
    let mut depth = 0_usize;
    for character in scope.chars() {
        match character {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            it if depth == 0 && !it.is_whitespace() => out.push(it),
            _ => {}
        }
    }
    let operator = operator.split('(').next().filter(|it| *it != "operator").unwrap_or(operator);
    out.push_str(&operator.split_whitespace().collect::<Vec<_>>().join(" "));
    out
}

fn class<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    define_type(walk, node, SymbolKind::Class);
}

fn structure<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    define_type(walk, node, SymbolKind::Struct);
}

fn enumeration<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    define_type(walk, node, SymbolKind::Enum);
}

fn define_type<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>, kind: SymbolKind) {
    if node.child_by_field_name("body").is_none() {
        return;
    }
    let written = without_templates(walk.field(node, "name"));
    match written.rsplit_once("::") {
        Some((scope, name)) => {
            let prefix = walk.qualify(scope);
            walk.define_in(Definition::new(node, kind, name), &prefix);
        }
        None => walk.define(Definition::new(node, kind, &written)),
    }
    let mut cursor = node.walk();
    let Some(clause) = node.named_children(&mut cursor).find(|it| it.kind() == "base_class_clause") else { return };
    for base in clause.named_children(&mut clause.walk()) {
        if matches!(base.kind(), "type_identifier" | "qualified_identifier" | "template_type") {
            let name = without_templates(walk.text(base));
            walk.base(&name, SymbolKind::Class);
        }
    }
}

fn call<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    let Some(function) = node.child_by_field_name("function") else { return };
    match function.kind() {
        "identifier" => walk.call(node, function, None),
        "template_function" => {
            let name = function.child_by_field_name("name");
            if let Some(name) = name.filter(|name| !walk.text(*name).ends_with("_cast")) {
                walk.call(node, name, None);
            }
        }
        "field_expression" => {
            let Some(field) = function.child_by_field_name("field") else { return };
            let name = field.child_by_field_name("name").unwrap_or(field);
            walk.call(node, name, function.child_by_field_name("argument"));
        }
        "qualified_identifier" => scoped_call(walk, node, function),
        _ => {}
    }
}

fn construction<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    if let Some(of) = node.child_by_field_name("type") {
        scoped_call(walk, node, of);
    }
}

fn scoped_call<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>, function: Node<'tree>) {
    let written = without_templates(walk.text(function));
    let (receiver, name) = written.rsplit_once("::").unwrap_or(("", &written));
    walk.call_named(node, name, receiver, function);
}

/// `using a::b;` and `using namespace a;`
fn using<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    let Some(name) = node.named_child(0) else { return };
    let target = walk.text(name);
    let mut cursor = node.walk();
    let everything = node.children(&mut cursor).any(|child| child.kind() == "namespace");
    let local = target.rsplit("::").next().filter(|_| !everything);
    walk.import(node, target.to_owned(), local);
}
