//! Rust: names begin at the crate, `impl` blocks give methods to types, macros hold unparsed calls.

#![cfg(feature = "grammars-systems")]

mod bindings;
mod imports;

use std::sync::OnceLock;

use rootset_model::code::SymbolKind;
use tree_sitter::Node;

use crate::grammar::{Grammar, ModuleName, Rule};
use crate::language::{Language, Naming};
use crate::paths::{is_snake_case_test, or_repo, without_extension};
use crate::reader::Source;
use crate::walk::{Definition, Walk};

pub(crate) static LANGUAGES: &[&Language] = &[&RUST];

static RUST: Language = Language {
    name: "rust",
    aliases: &["rs"],
    extensions: &["rs"],
    interpreters: &["rust-script"],
    lock_files: &["cargo.lock"],
    is_test: |stem, _| is_snake_case_test(stem),
    naming: Naming::Crates,
    own_receivers: &["self", "Self"],
    passing: &[
        "unwrap",
        "expect",
        "unwrap_or_default",
        "unwrap_or_else",
        "unwrap_or",
        "clone",
        "cloned",
        "as_ref",
        "as_mut",
        "as_deref",
        "as_deref_mut",
        "borrow",
        "borrow_mut",
        "lock",
        "read",
        "write",
        "get_mut",
        "to_owned",
        "ok",
        "map_err",
        "context",
        "with_context",
        "ok_or",
        "ok_or_else",
        "take",
        "await",
    ],
    manifests: &["Cargo.toml"],
    mappings: imports::crates,
    grammar: Some(&GRAMMAR),
    ..Language::PLAIN
};

static GRAMMAR: Grammar = Grammar {
    parser: || tree_sitter_rust::LANGUAGE.into(),
    module,
    separator: "::",
    rules: &[
        ("line_comment", Rule::visit(comment)),
        ("block_comment", Rule::visit(comment)),
        ("attribute_item", Rule { skips: true, ..Rule::LEAD }),
        ("inner_attribute_item", Rule::SKIP),
        ("function_item", Rule::visit(function)),
        ("function_signature_item", Rule::visit(function)),
        ("macro_definition", Rule::visit(macro_rules)),
        ("struct_item", Rule::visit(structure)),
        ("union_item", Rule::visit(structure)),
        ("enum_item", Rule::visit(enumeration)),
        ("trait_item", Rule::visit(a_trait)),
        ("impl_item", Rule::visit(implementation)),
        ("mod_item", Rule::visit(inline_module)),
        ("call_expression", Rule::visit(call)),
        ("closure_expression", Rule::visit(bindings::closure)),
        ("let_declaration", Rule::visit(bindings::declaration)),
        ("let_condition", Rule::visit(bindings::condition)),
        ("match_pattern", Rule::visit(bindings::matched)),
        ("for_expression", Rule::visit(bindings::each)),
        ("field_declaration", Rule::visit(bindings::field)),
        ("const_item", Rule::visit(bindings::item)),
        ("static_item", Rule::visit(bindings::item)),
        ("type_item", Rule::visit(type_alias)),
        ("enum_variant", Rule::visit(variant)),
        ("macro_invocation", Rule::visit(macro_call)),
        ("token_tree", Rule::visit(calls_in_macro)),
        ("use_declaration", Rule::visit(imports::use_declaration)),
        ("extern_crate_declaration", Rule::visit(imports::extern_crate)),
        ("string_literal", Rule::SKIP),
    ],
    scopes_blocks: true,
    narrows: false,
    masks: |_| None,
    table: OnceLock::new(),
};

/// `crates/foo-bar/src/a/b.rs` is `foo_bar::a::b`. Tests, benches, examples and binaries are crates of their own.
fn module(source: &Source<'_>) -> ModuleName {
    let mut parts: Vec<&str> = without_extension(source.path).split('/').collect();
    let src = parts.iter().position(|part| *part == "src");
    let own = parts.iter().position(|part| matches!(*part, "tests" | "benches" | "examples"));
    let mut name = match (src, own) {
        (Some(src), _) if parts.get(src + 1) == Some(&"bin") && parts.len() > src + 2 => parts.split_off(src + 2),
        (Some(src), _) => {
            let inner = parts.split_off(src + 1);
            let krate = src.checked_sub(1).map_or(source.repo, |parent| parts[parent]);
            [vec![krate], inner].concat()
        }
        (None, Some(own)) if parts.len() > own + 1 => parts.split_off(own + 1),
        _ => [vec![source.repo], parts].concat(),
    };
    if name.len() > 1 && matches!(name.last(), Some(&("lib" | "main" | "mod"))) {
        name.pop();
    }
    let krate = name.first().map(|krate| krate.replace('-', "_")).unwrap_or_default();
    let rest: String = name.iter().skip(1).flat_map(|part| ["::", part]).collect();
    ModuleName::of_members(or_repo(krate + &rest, "crate"))
}

/// `//!` is about what it stands in.
fn comment<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    let text = walk.text(node);
    if !text.starts_with("//!") && !text.starts_with("/*!") {
        walk.lead(node);
    }
}

fn function<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    let name = walk.field(node, "name");
    walk.define(Definition::new(node, walk.function_kind(), name));
    bindings::signature(walk, node);
}

fn macro_rules<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    let name = walk.field(node, "name");
    walk.define(Definition::new(node, SymbolKind::Macro, name));
}

fn type_alias<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    walk.declare(node, SymbolKind::TypeAlias, walk.field(node, "name"));
}

fn variant<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    walk.declare(node, SymbolKind::EnumMember, walk.field(node, "name"));
}

fn structure<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    let name = walk.field(node, "name");
    // The fields of `struct Pair(u8, u8)` are part of the signature.
    let body = node.child_by_field_name("body").filter(|body| body.kind() == "field_declaration_list");
    walk.define(Definition { body, ..Definition::new(node, SymbolKind::Struct, name) });
}

fn enumeration<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    let name = walk.field(node, "name");
    walk.define(Definition::new(node, SymbolKind::Enum, name));
}

fn a_trait<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    let name = walk.field(node, "name");
    walk.define(Definition::new(node, SymbolKind::Trait, name));
    let Some(bounds) = node.child_by_field_name("bounds") else { return };
    for bound in bounds.named_children(&mut bounds.walk()) {
        let bound = imports::absolute(walk, path_of(walk, bound));
        walk.base(&bound, SymbolKind::Trait);
    }
}

/// Methods belong to the type; the block itself is not a symbol.
fn implementation<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    let Some(of) = node.child_by_field_name("type") else { return };
    let path = path_of(walk, of);
    let name = path.rsplit("::").next().unwrap_or(path);
    if let Some(implemented) = node.child_by_field_name("trait").filter(|_| !name.is_empty()) {
        let (owner, scope) = (walk.qualify(name), walk.prefix().to_owned());
        let implemented = imports::absolute(walk, path_of(walk, implemented));
        walk.base_of(owner, scope, &implemented, SymbolKind::Trait);
    }
    walk.open_members_of(name);
}

/// A type as written, without generics and references; empty for tuples, slices and the like.
fn path_of<'a>(walk: &Walk<'a, '_>, node: Node<'_>) -> &'a str {
    let mut node = node;
    // A type behind more references than that is a riddle.
    for _ in 0..8 {
        node = match node.kind() {
            "type_identifier" | "scoped_type_identifier" | "identifier" | "scoped_identifier" | "primitive_type" => {
                let text = walk.text(node);
                return if text.contains(['<', '(']) { "" } else { text };
            }
            "generic_type" | "reference_type" | "pointer_type" => match node.child_by_field_name("type") {
                Some(inner) => inner,
                None => return "",
            },
            "dynamic_type" => match node.child_by_field_name("trait") {
                Some(inner) => inner,
                None => return "",
            },
            _ => return "",
        };
    }
    ""
}

fn inline_module<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    if node.child_by_field_name("body").is_some() {
        let name = walk.field(node, "name");
        walk.open_namespace(name);
    }
}

fn call<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    let Some(function) = node.child_by_field_name("function") else { return };
    let plain = if function.kind() == "generic_function" { function.child_by_field_name("function") } else { None };
    call_of(walk, node, plain.unwrap_or(function));
}

fn macro_call<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    if let Some(name) = node.child_by_field_name("macro") {
        call_of(walk, node, name);
    }
}

fn call_of<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>, function: Node<'tree>) {
    let (name, receiver) = match function.kind() {
        "identifier" => (Some(function), None),
        "field_expression" => (function.child_by_field_name("field"), function.child_by_field_name("value")),
        "scoped_identifier" => (function.child_by_field_name("name"), function.child_by_field_name("path")),
        _ => return,
    };
    if let Some(name) = name {
        let receiver = receiver.map_or("", |receiver| walk.text(receiver));
        call_on(walk, node, name, receiver);
    }
}

/// A path that says where it begins is told from the crate on.
fn call_on<'tree>(walk: &mut Walk<'_, 'tree>, at: Node<'tree>, name: Node<'tree>, receiver: &str) {
    let written = walk.text(name);
    match imports::from_crate(walk, receiver) {
        Some(path) => walk.call_from(at, written, receiver, Some(path), name),
        None => walk.call_named(at, written, receiver, name),
    }
}

/// What a macro is given is not parsed: a name before parentheses is a call there, too.
fn calls_in_macro<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    // Where the names and dots begin that end in the last name.
    let mut chain: Option<Node<'tree>> = None;
    let mut name: Option<Node<'tree>> = None;
    let mut joins = false;
    for child in node.children(&mut node.walk()) {
        match child.kind() {
            "identifier" | "self" | "super" | "crate" => {
                chain = if joins { chain.or(Some(child)) } else { Some(child) };
                name = Some(child);
                joins = false;
            }
            "." | "::" => joins = true,
            // `name!(…)`
            "!" if name.is_some() => {}
            "token_tree" => {
                let opens = walk.source.text.as_bytes().get(child.start_byte());
                if let (Some(name), Some(chain), Some(b'(')) = (name, chain, opens) {
                    let receiver = walk.source.text.get(chain.start_byte()..name.start_byte()).unwrap_or_default();
                    let receiver = receiver.trim_end_matches(['.', ':', ' ']);
                    call_on(walk, name, name, receiver);
                }
                // `f(x).g()`: the chain goes on.
                (name, joins) = (None, false);
            }
            _ => (chain, name, joins) = (None, None, false),
        }
    }
}
