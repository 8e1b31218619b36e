//! Python: modules are dotted paths, everything that is called is an expression.

#![cfg(feature = "grammars-scripts")]

use std::sync::OnceLock;

use rootset_model::code::SymbolKind;
use tree_sitter::Node;

use crate::grammar::{Grammar, ModuleName, Rule};
use crate::language::{Language, Naming};
use crate::paths::{or_repo, without_extension};
use crate::reader::Source;
use crate::walk::{Definition, Walk};

pub(crate) static LANGUAGES: &[&Language] = &[&PYTHON];

static PYTHON: Language = Language {
    name: "python",
    aliases: &["py"],
    extensions: &["py", "pyi", "pyw"],
    file_names: &["sconstruct", "sconscript", "wscript"],
    interpreters: &["python", "pypy"],
    lock_files: &["poetry.lock", "pdm.lock", "uv.lock", "pipfile.lock"],
    is_test,
    naming: Naming::Modules,
    own_receivers: &["self", "cls"],
    base_receivers: &["super()"],
    grammar: Some(&GRAMMAR),
    ..Language::PLAIN
};

static GRAMMAR: Grammar = Grammar {
    parser: || tree_sitter_python::LANGUAGE.into(),
    module,
    separator: ".",
    rules: &[
        ("function_definition", Rule::visit(function)),
        ("class_definition", Rule::visit(class)),
        ("decorated_definition", Rule::WRAPPER),
        ("decorator", Rule::LEAD.and(decorator)),
        ("comment", Rule::LEAD),
        ("call", Rule::visit(call)),
        ("lambda", Rule::visit(lambda)),
        ("assignment", Rule::visit(assignment)),
        ("named_expression", Rule::visit(named)),
        ("for_statement", Rule::visit(targets)),
        ("for_in_clause", Rule::visit(targets)),
        ("as_pattern", Rule::visit(as_pattern)),
        ("import_statement", Rule::SKIP.and(import)),
        ("import_from_statement", Rule::SKIP.and(import_from)),
        ("type_alias_statement", Rule::visit(type_alias)),
        ("type", Rule::SKIP),
    ],
    scopes_blocks: false,
    narrows: false,
    masks: |_| None,
    table: OnceLock::new(),
};

/// `test_store.py`, `store_test.py`, and what pytest reads along.
fn is_test(stem: &str, extension: &str) -> bool {
    let is_named_test =
        stem.starts_with("test_") || stem.ends_with("_test") || matches!(stem, "test" | "tests" | "conftest");
    is_named_test && matches!(extension, "py" | "pyi")
}

fn module(source: &Source<'_>) -> ModuleName {
    let path = without_extension(source.path);
    let path = path.strip_prefix("src/").or_else(|| path.strip_prefix("lib/")).unwrap_or(path);
    let path = if path == "__init__" { "" } else { path.strip_suffix("/__init__").unwrap_or(path) };
    ModuleName::of_members(or_repo(path.replace('/', "."), source.repo))
}

fn function<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    let name = walk.field(node, "name");
    let kind = walk.function_kind();
    walk.define(Definition::new(node, kind, name));
    walk.returns(node.child_by_field_name("return_type"));
    parameters(walk, node, kind == SymbolKind::Method);
}

fn lambda<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    walk.open_frame();
    parameters(walk, node, false);
}

/// The first parameter of a method is the object itself.
fn parameters<'tree>(walk: &mut Walk<'_, 'tree>, function: Node<'tree>, is_method: bool) {
    let Some(list) = function.child_by_field_name("parameters") else { return };
    for (place, parameter) in list.named_children(&mut list.walk()).enumerate() {
        let of_type = parameter.child_by_field_name("type");
        let name = match parameter.kind() {
            "identifier" => Some(parameter),
            "default_parameter" | "typed_default_parameter" => parameter.child_by_field_name("name"),
            _ => parameter.named_child(0),
        };
        let Some(name) = name.map(|name| walk.text(name)) else { continue };
        let is_own = place == 0 && is_method && matches!(name, "self" | "cls");
        if !is_own {
            // `*args: T` is a tuple of them.
            let of_type = of_type.filter(|_| !name.starts_with('*'));
            walk.parameter(name.trim_start_matches('*'), of_type);
        }
    }
}

/// `x = Store()`, `x: Store`, `self.x = …`.
fn assignment<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    let (of_type, value) = (node.child_by_field_name("type"), node.child_by_field_name("right"));
    let Some(left) = node.child_by_field_name("left") else { return };
    match left.kind() {
        "identifier" => {
            let name = walk.text(left);
            // `class Color(Enum):`
            let is_member = value.is_some() && walk.has_base(|base| base.ends_with("Enum") || base.ends_with("Flag"));
            if is_member {
                walk.declare(node, SymbolKind::EnumMember, name);
            } else {
                walk.declare_by_name(node, name);
            }
            walk.bind(name, of_type, value);
        }
        "attribute" if walk.field(left, "object") == "self" => {
            let from = walk.told(of_type, value);
            walk.declare_own(node, walk.field(left, "attribute"));
            walk.own_member(walk.field(left, "attribute"), from);
        }
        _ => unknown(walk, left),
    }
}

/// `type Pair[T] = …`
fn type_alias<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    let name = node.named_child(0).map_or("", |left| walk.text(left));
    walk.declare(node, SymbolKind::TypeAlias, name.split('[').next().unwrap_or(name));
}

fn named<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    walk.bind(walk.field(node, "name"), None, node.child_by_field_name("value"));
}

fn targets<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    if let Some(left) = node.child_by_field_name("left") {
        for name in if left.kind() == "identifier" { vec![left] } else { identifiers(left) } {
            walk.parameter(walk.text(name), None);
        }
    }
}

/// `with open(…) as f`, `except Error as e`.
fn as_pattern<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    let Some(name) = node.child_by_field_name("alias") else { return };
    let value = node.named_child(0).filter(|value| value.kind() == "call");
    walk.bind(walk.text(name), None, value);
}

fn unknown<'tree>(walk: &mut Walk<'_, 'tree>, left: Node<'tree>) {
    if matches!(left.kind(), "pattern_list" | "tuple_pattern" | "list_pattern") {
        for name in identifiers(left) {
            walk.bind_to(walk.text(name), None);
        }
    }
}

fn identifiers<'tree>(list: Node<'tree>) -> Vec<Node<'tree>> {
    list.named_children(&mut list.walk()).filter(|it| it.kind() == "identifier").collect()
}

fn class<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    let name = walk.field(node, "name");
    walk.define(Definition::new(node, SymbolKind::Class, name));
    let Some(superclasses) = node.child_by_field_name("superclasses") else { return };
    for base in superclasses.named_children(&mut superclasses.walk()) {
        // `Generic[T]` is a base, `metaclass=M` is none.
        let base = if base.kind() == "subscript" { base.child_by_field_name("value") } else { Some(base) };
        if let Some(base) = base.filter(|base| matches!(base.kind(), "identifier" | "attribute")) {
            walk.base(walk.text(base), SymbolKind::Class);
        }
    }
}

fn call<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    if let Some(function) = node.child_by_field_name("function") {
        call_of(walk, node, function);
    }
}

/// `@cached` calls `cached`; in `@cached(60)` there is a call anyway.
fn decorator<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    if let Some(expression) = node.named_child(0) {
        call_of(walk, node, expression);
    }
}

fn call_of<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>, function: Node<'tree>) {
    match function.kind() {
        "identifier" => walk.call(node, function, None),
        "attribute" => {
            if let Some(name) = function.child_by_field_name("attribute") {
                walk.call(node, name, function.child_by_field_name("object"));
            }
        }
        _ => {}
    }
}

/// `import a.b` brings in `a.b` under that very name.
fn import<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    for name in node.children_by_field_name("name", &mut node.walk()) {
        let (target, local) = target_and_local(walk, name);
        walk.import(name, target.to_owned(), Some(local));
    }
}

fn import_from<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    let Some(from) = absolute(walk, walk.field(node, "module_name")) else { return };
    let mut names = 0;
    for name in node.children_by_field_name("name", &mut node.walk()) {
        let (target, local) = target_and_local(walk, name);
        let target = if from.is_empty() { target.to_owned() } else { [&from, ".", target].concat() };
        walk.import(name, target, Some(local));
        names += 1;
    }
    if names == 0 {
        walk.import(node, from, None);
    }
}

/// Of `a.b` and of `a.b as c`.
fn target_and_local<'a>(walk: &Walk<'a, '_>, name: Node<'_>) -> (&'a str, &'a str) {
    if name.kind() == "aliased_import" {
        (walk.field(name, "name"), walk.field(name, "alias"))
    } else {
        (walk.text(name), walk.text(name))
    }
}

/// A module as written after `from`, beginning at the top. `None` when its dots lead out of the repository.
fn absolute(walk: &Walk<'_, '_>, written: &str) -> Option<String> {
    let rest = written.trim_start_matches(['.', ' ']);
    let dots = written.bytes().take_while(|byte| matches!(byte, b'.' | b' ')).filter(|byte| *byte == b'.').count();
    if dots == 0 {
        return Some(rest.to_owned());
    }
    let is_package = without_extension(walk.source.path).ends_with("__init__");
    let mut package = walk.module.qualified.as_str();
    for _ in usize::from(is_package)..dots {
        if package.is_empty() {
            return None;
        }
        package = package.rsplit_once('.').map_or("", |(package, _)| package);
    }
    Some(match (package, rest) {
        ("", rest) => rest.to_owned(),
        (package, "") => package.to_owned(),
        (package, rest) => [package, ".", rest].concat(),
    })
}
