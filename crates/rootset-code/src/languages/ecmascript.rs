//! JavaScript, TypeScript and TSX: one language with and without types and elements.
//!
//! A function has the name that it is bound to: by declaration, `const`, property, class field or assignment.

#![cfg(feature = "grammars-web")]

mod bindings;
mod imports;
mod manifests;
mod names;

use std::sync::OnceLock;

use rootset_model::code::SymbolKind;
use tree_sitter::Node;

use crate::grammar::{Grammar, Rule};
use crate::language::{Language, Naming};
use crate::walk::{Definition, Walk};
use imports::{export, import, import_require, required};
use names::{base_name, bound_kind, module, unquoted};

pub(crate) static LANGUAGES: &[&Language] = &[&JAVASCRIPT, &TYPESCRIPT, &TSX];

/// What the three have in common.
const ECMASCRIPT: Language = Language {
    lock_files: &["package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml", "bun.lock"],
    is_test,
    family: Some("javascript"),
    naming: Naming::Modules,
    own_receivers: &["this"],
    base_receivers: &["super"],
    default_member: Some(DEFAULT_NAME),
    manifests: &[
        "package.json",
        "tsconfig.json",
        "jsconfig.json",
        "tsconfig.base.json",
        "tsconfig.app.json",
        "tsconfig.build.json",
        "tsconfig.common.json",
        "tsconfig.lib.json",
        "tsconfig.options.json",
        "tsconfig.paths.json",
        "tsconfig.shared.json",
    ],
    mappings: manifests::mappings,
    ..Language::PLAIN
};

static JAVASCRIPT: Language = Language {
    name: "javascript",
    aliases: &["js", "jsx"],
    extensions: &["js", "jsx", "mjs", "cjs"],
    file_names: &["jakefile"],
    interpreters: &["node", "nodejs"],
    grammar: Some(&JAVASCRIPT_GRAMMAR),
    ..ECMASCRIPT
};

static TYPESCRIPT: Language = Language {
    name: "typescript",
    aliases: &["ts"],
    extensions: &["ts", "mts", "cts"],
    interpreters: &["deno", "ts-node", "tsx", "bun"],
    grammar: Some(&TYPESCRIPT_GRAMMAR),
    ..ECMASCRIPT
};

static TSX: Language = Language {
    name: "tsx",
    aliases: &["ts", "typescript"],
    extensions: &["tsx"],
    grammar: Some(&TSX_GRAMMAR),
    ..ECMASCRIPT
};

macro_rules! rules {
    ($($more:expr),*) => {
        &[
            ("comment", Rule::LEAD),
            ("decorator", Rule::LEAD.and(decorator)),
            ("string", Rule::SKIP),
            ("regex", Rule::SKIP),
            ("expression_statement", Rule::WRAPPER),
            ("export_statement", Rule::WRAPPER.and(export_statement)),
            ("lexical_declaration", Rule::visit(declaration)),
            ("variable_declaration", Rule::visit(declaration)),
            ("function_declaration", Rule::visit(function)),
            ("generator_function_declaration", Rule::visit(function)),
            ("class_declaration", Rule::visit(class)),
            ("method_definition", Rule::visit(method)),
            ("variable_declarator", Rule::visit(declarator)),
            ("pair", Rule::visit(property)),
            ("assignment_expression", Rule::visit(assignment)),
            ("call_expression", Rule::visit(call)),
            ("arrow_function", Rule::visit(bindings::function)),
            ("function_expression", Rule::visit(bindings::function)),
            ("generator_function", Rule::visit(bindings::function)),
            ("for_in_statement", Rule::visit(bindings::each)),
            ("catch_clause", Rule::visit(bindings::caught)),
            ("new_expression", Rule::visit(construction)),
            ("import_statement", Rule::visit(import)),
            $($more),*
        ]
    };
}

macro_rules! typed_rules {
    ($($more:expr),*) => {
        rules![
            ("public_field_definition", Rule::visit(field)),
            ("abstract_class_declaration", Rule::visit(class)),
            ("interface_declaration", Rule::visit(interface)),
            ("property_signature", Rule::visit(bindings::member)),
            ("enum_declaration", Rule::visit(enumeration)),
            ("enum_body", Rule::visit(enum_members)),
            ("function_signature", Rule::visit(function)),
            ("method_signature", Rule::visit(method)),
            ("abstract_method_signature", Rule::visit(method)),
            ("internal_module", Rule::visit(namespace)),
            ("module", Rule::visit(namespace)),
            ("ambient_declaration", Rule::WRAPPER),
            ("import_require_clause", Rule::visit(import_require)),
            // Methods of anonymous types are nobody's.
            ("type_annotation", Rule::SKIP),
            ("type_arguments", Rule::SKIP),
            ("type_parameters", Rule::SKIP),
            ("type_alias_declaration", Rule::SKIP.and(type_alias)),
            ("object_type", Rule::SKIP)
            $(, $more)*
        ]
    };
}

static JAVASCRIPT_GRAMMAR: Grammar = Grammar {
    parser: || tree_sitter_javascript::LANGUAGE.into(),
    module,
    separator: ".",
    rules: rules![
        ("field_definition", Rule::visit(field)),
        ("jsx_opening_element", Rule::visit(element)),
        ("jsx_self_closing_element", Rule::visit(element))
    ],
    scopes_blocks: true,
    narrows: false,
    masks: |_| None,
    table: OnceLock::new(),
};

static TYPESCRIPT_GRAMMAR: Grammar = Grammar {
    parser: || tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into(),
    module,
    separator: ".",
    rules: typed_rules![],
    scopes_blocks: true,
    narrows: false,
    masks: |_| None,
    table: OnceLock::new(),
};

static TSX_GRAMMAR: Grammar = Grammar {
    parser: || tree_sitter_typescript::LANGUAGE_TSX.into(),
    module,
    separator: ".",
    rules: typed_rules![
        ("jsx_opening_element", Rule::visit(element)),
        ("jsx_self_closing_element", Rule::visit(element))
    ],
    scopes_blocks: true,
    narrows: false,
    masks: |_| None,
    table: OnceLock::new(),
};

/// `cart.test.js`, `cart-spec.ts`, `cart.e2e.ts`.
fn is_test(stem: &str, _extension: &str) -> bool {
    [".test", ".spec", "-test", "-spec", "_test", "_spec", ".e2e"].into_iter().any(|end| stem.ends_with(end))
}

/// What a function or class is called that has no name of its own: as importers see it.
const DEFAULT_NAME: &str = "default";

fn function<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    let name = or_default(walk.field(node, "name"));
    walk.define(Definition::new(node, walk.function_kind(), name));
    bindings::signature(walk, node);
}

fn class<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    let name = or_default(walk.field(node, "name"));
    walk.define(Definition::new(node, SymbolKind::Class, name));
    heritage(walk, node);
}

fn or_default(name: &str) -> &str {
    if name.is_empty() { DEFAULT_NAME } else { name }
}

/// The bases of a class that was just defined.
fn heritage<'tree>(walk: &mut Walk<'_, 'tree>, class: Node<'tree>) {
    let mut cursor = class.walk();
    let Some(heritage) = class.named_children(&mut cursor).find(|child| child.kind() == "class_heritage") else {
        return;
    };
    for clause in heritage.named_children(&mut heritage.walk()) {
        match clause.kind() {
            "extends_clause" => {
                for base in clause.children_by_field_name("value", &mut clause.walk()) {
                    walk.base(base_name(walk, base), SymbolKind::Class);
                }
            }
            "implements_clause" => bases(walk, clause, SymbolKind::Interface),
            _ => walk.base(base_name(walk, clause), SymbolKind::Class),
        }
    }
}

fn bases<'tree>(walk: &mut Walk<'_, 'tree>, clause: Node<'tree>, kind: SymbolKind) {
    for base in clause.named_children(&mut clause.walk()) {
        walk.base(base_name(walk, base), kind);
    }
}

fn interface<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    let name = walk.field(node, "name");
    walk.define(Definition::new(node, SymbolKind::Interface, name));
    let mut cursor = node.walk();
    let clause = node.named_children(&mut cursor).find(|child| child.kind() == "extends_type_clause");
    if let Some(clause) = clause {
        bases(walk, clause, SymbolKind::Interface);
    }
}

fn enumeration<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    let name = walk.field(node, "name");
    walk.define(Definition::new(node, SymbolKind::Enum, name));
}

/// There is nothing but members in an enum.
fn enum_members<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    for member in node.named_children(&mut node.walk()) {
        let name = member.child_by_field_name("name").unwrap_or(member);
        if matches!(name.kind(), "property_identifier" | "string") {
            walk.declare(member, SymbolKind::EnumMember, unquoted(walk.text(name)));
        }
    }
}

fn type_alias<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    walk.declare(node, SymbolKind::TypeAlias, walk.field(node, "name"));
}

fn namespace<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    let name = unquoted(walk.field(node, "name"));
    walk.open_namespace(name);
}

fn method<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    let name = unquoted(walk.field(node, "name"));
    walk.define(Definition::new(node, walk.function_kind(), name));
    bindings::signature(walk, node);
}

/// A declaration is all of its one declarator; of several, each has its own text.
fn declaration<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    let mut cursor = node.walk();
    if node.named_children(&mut cursor).filter(|child| child.kind() == "variable_declarator").nth(1).is_none() {
        walk.wrap();
    }
}

fn declarator<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    let Some(name) = node.child_by_field_name("name") else { return };
    let value = node.child_by_field_name("value");
    if let Some(value) = value {
        if name.kind() == "identifier" {
            if bound_kind(value).is_none() && !imports::is_required(walk, value) {
                walk.declare_by_name(node, walk.text(name));
            }
            bind(walk, node, walk.text(name), value);
        }
        if required(walk, name, value) || bound_kind(value).is_some() {
            return;
        }
    } else if name.kind() == "identifier" {
        walk.declare_by_name(node, walk.text(name));
    }
    bindings::declared(walk, node, name, value);
}

fn property<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    if let Some(value) = node.child_by_field_name("value") {
        let name = unquoted(walk.field(node, "key"));
        bind(walk, node, name, value);
    }
}

fn field<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    let name = node.child_by_field_name("property").or_else(|| node.child_by_field_name("name"));
    let name = name.map_or("", |name| unquoted(walk.text(name)));
    let value = node.child_by_field_name("value");
    if value.is_none_or(|value| bound_kind(value).is_none()) {
        let from = walk.told(node.child_by_field_name("type"), value);
        walk.declare(node, SymbolKind::Field, name);
        walk.own_member(name, from);
    }
    if let Some(value) = value {
        bind(walk, node, name, value);
    }
}

/// A function or class under the name that it is bound to; the functions in an object under the object's.
fn bind<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>, name: &str, value: Node<'tree>) {
    match bound_kind(value) {
        Some(SymbolKind::Class) => {
            walk.define(Definition {
                body: value.child_by_field_name("body"),
                ..Definition::new(node, SymbolKind::Class, name)
            });
            heritage(walk, value);
        }
        Some(_) => {
            let kind = walk.function_kind();
            walk.define(Definition { body: value.child_by_field_name("body"), ..Definition::new(node, kind, name) });
            walk.returns(value.child_by_field_name("return_type"));
        }
        None if value.kind() == "object" => walk.open_namespace(name),
        None => {}
    }
}

/// `exports.f = function …`, `A.prototype.m = …`, `A.f = …`
fn assignment<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    let (Some(left), Some(value)) = (node.child_by_field_name("left"), node.child_by_field_name("right")) else {
        return;
    };
    match left.kind() {
        "identifier" => {
            bind(walk, node, walk.text(left), value);
            if bound_kind(value).is_none() {
                walk.assign(walk.text(left), Some(value));
            }
        }
        "member_expression" => {
            let object = walk.field(left, "object");
            let name = walk.field(left, "property");
            if object == "module" && name == "exports" {
                imports::export_value(walk, value);
                if bound_kind(value).is_some() {
                    bind(walk, node, or_default(walk.field(value, "name")), value);
                }
                return;
            }
            if object == "this" && bound_kind(value).is_none() {
                walk.declare_own(node, name);
                let from = walk.told(None, Some(value));
                walk.own_member(name, from);
            }
            if matches!(object, "exports" | "module.exports") {
                if let Some(own) = imports::name_exported_by(walk, value) {
                    imports::export_as(walk, value, own, name);
                } else if bound_kind(value).is_none() {
                    walk.declare_by_name(node, name);
                }
            }
            let of_class = object.strip_suffix(".prototype");
            let holder = of_class.unwrap_or(object);
            let is_plain = matches!(holder, "module.exports" | "exports" | "this" | "self" | "window" | "globalThis")
                || holder.contains(|it: char| !it.is_alphanumeric() && it != '_' && it != '$');
            match bound_kind(value) {
                Some(SymbolKind::Function) if !is_plain => {
                    let kind = if of_class.is_some() { SymbolKind::Method } else { SymbolKind::Function };
                    let body = value.child_by_field_name("body");
                    let prefix = walk.qualify(holder);
                    walk.define_in(Definition { body, ..Definition::new(node, kind, name) }, &prefix);
                }
                _ => bind(walk, node, name, value),
            }
        }
        _ => {}
    }
}

fn export_statement<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    export(walk, node);
    // `export default () => …`
    if let Some(value) = node.child_by_field_name("value") {
        imports::export_value(walk, value);
        let name = or_default(walk.field(value, "name"));
        if bound_kind(value).is_some() {
            bind(walk, node, name, value);
        }
    }
    imports::export_declared(walk, node);
}

fn call<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    let Some(function) = node.child_by_field_name("function") else { return };
    // The grammar reads `await f<T>()` as a call of `await f`.
    let awaited = if function.kind() == "await_expression" { function.named_child(0) } else { None };
    call_of(walk, node, awaited.unwrap_or(function));
}

fn construction<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    if let Some(constructor) = node.child_by_field_name("constructor") {
        call_of(walk, node, constructor);
    }
}

/// `@Injectable` calls it; in `@Injectable()` there is a call anyway.
fn decorator<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    if let Some(expression) = node.named_child(0) {
        call_of(walk, node, expression);
    }
}

/// An element of a component is a call of it; those of HTML are in lower case.
fn element<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    let name = node.child_by_field_name("name");
    if let Some(name) = name.filter(|name| walk.text(*name).starts_with(|it: char| it.is_ascii_uppercase())) {
        call_of(walk, node, name);
    }
}

fn call_of<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>, function: Node<'tree>) {
    match function.kind() {
        "identifier" => walk.call(node, function, None),
        "member_expression" => {
            if let Some(name) = function.child_by_field_name("property") {
                walk.call(node, name, function.child_by_field_name("object"));
            }
        }
        _ => {}
    }
}
