//! Names of modules, of bases and of what is bound.

use rootset_model::code::SymbolKind;
use tree_sitter::Node;

use crate::grammar::ModuleName;
use crate::paths::or_repo;
use crate::reader::Source;
use crate::walk::Walk;

const EXTENSIONS: [&str; 11] =
    [".d.ts", ".d.mts", ".d.cts", ".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts"];

pub(super) fn module(source: &Source<'_>) -> ModuleName {
    ModuleName::of_members(or_repo(dotted(source.path), source.repo))
}

pub(super) fn without_source_extension(path: &str) -> &str {
    EXTENSIONS.iter().find_map(|extension| path.strip_suffix(extension)).unwrap_or(path)
}

/// A path within the repository as a name: without extension, `src/` in front and `index` at the end.
pub(super) fn dotted(path: &str) -> String {
    let path = without_source_extension(path);
    let path = path.strip_prefix("src/").unwrap_or(path);
    let path = if path == "index" || path == "src" { "" } else { path.strip_suffix("/index").unwrap_or(path) };
    path.replace('/', ".")
}

pub(super) fn unquoted(name: &str) -> &str {
    name.trim_matches(['"', '\'', '`'])
}

/// What a value that is bound to a name makes of it.
pub(super) fn bound_kind(value: Node<'_>) -> Option<SymbolKind> {
    match value.kind() {
        "arrow_function" | "function_expression" | "generator_function" => Some(SymbolKind::Function),
        "class" => Some(SymbolKind::Class),
        _ => None,
    }
}

/// A base as written, without type arguments; empty for what is computed.
pub(super) fn base_name<'a>(walk: &Walk<'a, '_>, base: Node<'_>) -> &'a str {
    match base.kind() {
        "generic_type" => walk.field(base, "name"),
        "identifier" | "type_identifier" | "nested_type_identifier" | "member_expression" => walk.text(base),
        _ => "",
    }
}
