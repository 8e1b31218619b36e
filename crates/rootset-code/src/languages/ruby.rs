//! Ruby: `A::B#method` for what values do, `A::B.method` for what the class does; modules are traits.

#![cfg(feature = "grammars-scripts")]

use std::sync::OnceLock;

use rootset_model::code::SymbolKind;
use tree_sitter::Node;

use crate::grammar::{Grammar, Rule};
use crate::language::{Language, Naming, Sees};
use crate::paths::{directory_of, file_module, resolve_relative};
use crate::walk::{Definition, Walk};

pub(crate) static LANGUAGES: &[&Language] = &[&RUBY];

static RUBY: Language = Language {
    name: "ruby",
    aliases: &["rb"],
    extensions: &["rb", "rake", "gemspec", "ru", "podspec"],
    file_names: &["gemfile", "rakefile", "vagrantfile", "capfile", "guardfile", "podfile", "brewfile", "fastfile"],
    interpreters: &["ruby", "jruby"],
    lock_files: &["gemfile.lock"],
    is_test,
    sees: Sees::Repository,
    naming: Naming::Namespaces,
    own_receivers: &["self"],
    has_implicit_members: true,
    constructor: Some("new"),
    grammar: Some(&GRAMMAR),
    ..Language::PLAIN
};

static GRAMMAR: Grammar = Grammar {
    parser: || tree_sitter_ruby::LANGUAGE.into(),
    module: file_module,
    separator: "::",
    rules: &[
        ("comment", Rule::LEAD),
        ("class", Rule::visit(class)),
        ("module", Rule::visit(module)),
        ("singleton_class", Rule::visit(singleton_class)),
        ("method", Rule::visit(method)),
        ("singleton_method", Rule::visit(singleton_method)),
        ("call", Rule::visit(call)),
        ("argument_list", Rule::visit(arguments)),
        ("block", Rule::visit(block)),
        ("do_block", Rule::visit(block)),
        ("assignment", Rule::visit(assignment)),
        ("body_statement", Rule::visit(statements)),
        ("block_body", Rule::visit(statements)),
        ("then", Rule::visit(statements)),
        ("else", Rule::visit(statements)),
    ],
    scopes_blocks: false,
    narrows: false,
    masks: |_| None,
    table: OnceLock::new(),
};

/// `order_spec.rb`, `order_test.rb`, `test_order.rb`.
fn is_test(stem: &str, extension: &str) -> bool {
    let is_named_test = stem.ends_with("_spec") || stem.ends_with("_test") || stem.starts_with("test_");
    is_named_test && extension == "rb"
}

fn class<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    define_type(walk, node, SymbolKind::Class);
    let base = node.child_by_field_name("superclass").and_then(|superclass| superclass.named_child(0));
    if let Some(base) = base.filter(|base| matches!(base.kind(), "constant" | "scope_resolution")) {
        walk.base(walk.text(base).trim_start_matches("::"), SymbolKind::Class);
    }
}

fn module<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    define_type(walk, node, SymbolKind::Trait);
}

/// `class A::B` is `B` in `A`.
fn define_type<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>, kind: SymbolKind) {
    let written = walk.field(node, "name").trim_start_matches("::");
    // Comments stand between the head and the body: the first line says it all.
    let definition = |name| Definition { body: None, ..Definition::new(node, kind, name) };
    match written.rsplit_once("::") {
        Some((scope, name)) => {
            let prefix = walk.qualify(scope);
            walk.define_in(definition(name), &prefix);
        }
        None => walk.define(definition(written)),
    }
}

/// `class << self`
fn singleton_class<'tree>(walk: &mut Walk<'_, 'tree>, _: Node<'tree>) {
    if walk.in_type() {
        walk.open_singleton();
    }
}

fn method<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    let name = walk.field(node, "name");
    let joint = if walk.in_singleton() { "." } else { "#" };
    let kind = walk.function_kind();
    walk.define(Definition { joint: Some(joint), ..Definition::new(node, kind, name) });
    assigned(walk, node);
    parameters(walk, node);
}

fn block<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    walk.open_frame();
    parameters(walk, node);
}

/// Every name that a method assigns is a variable in all of it: a bare name says nothing else of being none.
fn assigned<'tree>(walk: &mut Walk<'_, 'tree>, function: Node<'tree>) {
    /// Longer methods are generated.
    const NODES_MAX: usize = 5_000;
    let mut open = vec![function];
    for _ in 0..NODES_MAX {
        let Some(node) = open.pop() else { return };
        let name = match node.kind() {
            "assignment" | "operator_assignment" => node.child_by_field_name("left"),
            "exception_variable" => node.named_child(0),
            "for" => node.child_by_field_name("pattern"),
            _ => None,
        };
        for name in
            name.into_iter().flat_map(|left| if left.kind() == "identifier" { vec![left] } else { names_in(left) })
        {
            walk.parameter(walk.text(name), None);
        }
        open.extend(node.named_children(&mut node.walk()));
    }
}

fn names_in<'tree>(list: Node<'tree>) -> Vec<Node<'tree>> {
    list.named_children(&mut list.walk()).filter(|it| it.kind() == "identifier").collect()
}

fn parameters<'tree>(walk: &mut Walk<'_, 'tree>, function: Node<'tree>) {
    let Some(list) = function.child_by_field_name("parameters") else { return };
    for parameter in list.named_children(&mut list.walk()) {
        let name = if parameter.kind() == "identifier" { walk.text(parameter) } else { walk.field(parameter, "name") };
        walk.parameter(name, None);
    }
}

/// `x = Store.new`, `@x = Store.new`.
fn assignment<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    let (Some(left), value) = (node.child_by_field_name("left"), node.child_by_field_name("right")) else { return };
    match left.kind() {
        "identifier" => {
            if let Some(value) = value.filter(|value| value.kind() == "identifier") {
                bare_call(walk, value);
            }
            walk.bind(walk.text(left), None, value);
        }
        "constant" => walk.declare(node, SymbolKind::Constant, walk.text(left)),
        "instance_variable" => {
            let from = walk.told(None, value);
            walk.own_member(walk.text(left), from);
        }
        _ => {}
    }
}

/// `def self.find`
fn singleton_method<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    let name = walk.field(node, "name");
    let definition = Definition { joint: Some("."), ..Definition::new(node, SymbolKind::Method, name) };
    match walk.field(node, "object") {
        "self" => walk.define(definition),
        object => {
            let prefix = walk.qualify(object);
            walk.define_in(definition, &prefix);
        }
    }
    assigned(walk, node);
    parameters(walk, node);
}

fn call<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    let Some(name) = node.child_by_field_name("method") else { return };
    let receiver = node.child_by_field_name("receiver");
    match (walk.text(name), receiver) {
        ("include" | "prepend" | "extend", None) if walk.in_type() => mixins(walk, node),
        ("attr_accessor" | "attr_reader" | "attr_writer", None) if walk.in_type() => properties(walk, node),
        ("require" | "require_relative" | "load" | "autoload", None) => require(walk, node, walk.text(name)),
        // Who makes one calls the class.
        ("new", Some(of)) if matches!(of.kind(), "constant" | "scope_resolution") => {
            let written = walk.text(of);
            let (scope, name) = written.rsplit_once("::").unwrap_or(("", written));
            walk.call_named(node, name, scope, of);
        }
        _ => {
            wrap_visibility(walk, node);
            walk.call(node, name, receiver);
        }
    }
}

/// `private def f`: the method is all of the call.
fn wrap_visibility<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    let first = node.child_by_field_name("arguments").and_then(|arguments| arguments.named_child(0));
    if first.is_some_and(|first| matches!(first.kind(), "method" | "singleton_method")) {
        walk.wrap();
    }
}

/// A bare name that is no variable is a call.
fn statements<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    for name in node.named_children(&mut node.walk()).filter(|child| child.kind() == "identifier") {
        bare_call(walk, name);
    }
}

fn bare_call<'tree>(walk: &mut Walk<'_, 'tree>, name: Node<'tree>) {
    if walk.variable(walk.text(name)).is_none() {
        walk.call(name, name, None);
    }
}

fn arguments<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    statements(walk, node);
    if walk.is_wrapped() {
        walk.wrap();
    }
}

/// `attr_reader :name`
fn properties<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    let Some(arguments) = node.child_by_field_name("arguments") else { return };
    for name in arguments.named_children(&mut arguments.walk()).filter(|it| it.kind() == "simple_symbol") {
        walk.declare(name, SymbolKind::Property, walk.text(name).trim_start_matches(':'));
    }
}

fn mixins<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    let Some(arguments) = node.child_by_field_name("arguments") else { return };
    for argument in arguments.named_children(&mut arguments.walk()) {
        if matches!(argument.kind(), "constant" | "scope_resolution") {
            walk.base_around(walk.text(argument).trim_start_matches("::"), SymbolKind::Trait);
        }
    }
}

fn require<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>, how: &str) {
    let Some(arguments) = node.child_by_field_name("arguments") else { return };
    let mut cursor = arguments.walk();
    let Some(path) = arguments.named_children(&mut cursor).find(|argument| argument.kind() == "string") else { return };
    let path = walk.text(path).trim_matches(['"', '\'']);
    let resolved =
        if how == "require_relative" { resolve_relative(directory_of(walk.source.path), path) } else { None };
    walk.import(node, resolved.unwrap_or_else(|| path.to_owned()), None);
}
