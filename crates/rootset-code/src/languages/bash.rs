//! Bash and its relatives: functions are commands, and every command is a call.

#![cfg(feature = "grammars-scripts")]

use std::sync::OnceLock;

use rootset_model::code::SymbolKind;
use tree_sitter::Node;

use crate::grammar::{Grammar, Rule};
use crate::language::{Language, Sees};
use crate::paths::{directory_of, file_module, is_snake_case_test, resolve_relative};
use crate::walk::{Definition, Walk};

pub(crate) static LANGUAGES: &[&Language] = &[&BASH];

static BASH: Language = Language {
    name: "bash",
    aliases: &["sh", "shell"],
    extensions: &["sh", "bash", "zsh", "ksh", "bats"],
    file_names: &[".bashrc", ".bash_profile", ".profile", ".zshrc", "pkgbuild"],
    interpreters: &["sh", "bash", "zsh", "ksh", "dash", "ash"],
    is_test: |stem, extension| extension == "bats" || matches!(extension, "sh" | "bash") && is_snake_case_test(stem),
    sees: Sees::Repository,
    grammar: Some(&GRAMMAR),
    ..Language::PLAIN
};

static GRAMMAR: Grammar = Grammar {
    parser: || tree_sitter_bash::LANGUAGE.into(),
    module: file_module,
    // Functions within functions are visible everywhere; the name only says where they are written.
    separator: ".",
    rules: &[
        ("comment", Rule::LEAD),
        ("function_definition", Rule::visit(function)),
        ("command", Rule::visit(command)),
        ("variable_assignment", Rule::visit(variable)),
    ],
    // Its scanner asks C's `isdigit` about characters, which reads outside of a table for those beyond Latin-1.
    scopes_blocks: false,
    narrows: true,
    masks: |_| None,
    table: OnceLock::new(),
};

fn function<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    let name = walk.field(node, "name");
    walk.define_in(Definition::new(node, SymbolKind::Function, name), "");
}

fn variable<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    walk.declare_by_name(node, walk.field(node, "name"));
}

fn command<'tree>(walk: &mut Walk<'_, 'tree>, node: Node<'tree>) {
    let Some(name) = node.child_by_field_name("name").and_then(|name| name.named_child(0)) else { return };
    if name.kind() != "word" {
        return;
    }
    if matches!(walk.text(name), "source" | ".") {
        let path = node.child_by_field_name("argument").map_or("", |path| walk.text(path)).trim_matches(['"', '\'']);
        let is_relative = path.starts_with("./") || path.starts_with("../");
        let resolved = if is_relative { resolve_relative(directory_of(walk.source.path), path) } else { None };
        return walk.import(node, resolved.unwrap_or_else(|| path.to_owned()), None);
    }
    walk.call(node, name, None);
}
