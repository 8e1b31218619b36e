//! What `package.json` and `tsconfig.json` say of imported names.

use std::collections::BTreeMap;

use jsonc_parser::{JsonValue, ParseOptions, parse_to_value};
use rootset_model::code::{Mapping, MappingKind};
use serde_json::Value;

use super::names::without_source_extension;
use crate::limits::NAME_BYTES_MAX;
use crate::paths::{directory_of, resolve_relative};
use crate::reader::Source;

/// Longer ones, and deeper ones, are generated; the parser calls itself for what is inside.
const BYTES_MAX: usize = 256 << 10;
const DEPTH_MAX: usize = 32;
/// Names and paths of one manifest.
const MAPPINGS_MAX: usize = 500;

/// Folders with what is built, and the folder that it is built from.
const BUILT: [&str; 5] = ["dist", "lib", "build", "out", "es"];

pub(super) fn mappings(source: &Source<'_>) -> Vec<Mapping> {
    let depth = source.text.bytes().scan(0_usize, |depth, byte| {
        match byte {
            b'{' | b'[' => *depth += 1,
            b'}' | b']' => *depth = depth.saturating_sub(1),
            _ => {}
        }
        Some(*depth)
    });
    if source.text.len() > BYTES_MAX || depth.max().unwrap_or_default() > DEPTH_MAX {
        return Vec::new();
    }
    let Ok(Some(value)) = parse_to_value(source.text, &ParseOptions::default()) else { return Vec::new() };
    let value = plain(value);
    let folder = directory_of(source.path);
    let mut found = if source.path.ends_with("package.json") { package(folder, &value) } else { paths(folder, &value) };
    found.retain(|it| it.from.len() <= NAME_BYTES_MAX && it.to.len() <= 4 * NAME_BYTES_MAX);
    found.truncate(MAPPINGS_MAX);
    found
}

/// With keys in order: the parser gives them in any. As deep as the text, which is bounded.
fn plain(value: JsonValue<'_>) -> Value {
    match value {
        JsonValue::String(text) => Value::String(text.into_owned()),
        JsonValue::Array(items) => items.into_iter().map(plain).collect(),
        JsonValue::Object(fields) => {
            let fields: BTreeMap<String, Value> =
                fields.into_iter().map(|(key, value)| (key.into_owned(), plain(value))).collect();
            Value::Object(fields.into_iter().collect())
        }
        JsonValue::Number(_) | JsonValue::Boolean(_) | JsonValue::Null => Value::Null,
    }
}

/// The package's name for what it exports, and for what lies below its folder.
fn package(folder: &str, manifest: &Value) -> Vec<Mapping> {
    let Some(name) = manifest["name"].as_str().filter(|name| !name.is_empty()) else { return Vec::new() };
    let mut found = Vec::new();
    let mut add = |kind, from: String, written: &str| {
        for to in sources(folder, written) {
            let mapping = Mapping { kind, from: from.clone(), to, within: String::new() };
            if !found.contains(&mapping) {
                found.push(mapping);
            }
        }
    };
    let is_plain = |exports: &Value| exports.as_object().is_none_or(|it| it.keys().all(|key| !key.starts_with('.')));
    let exports = &manifest["exports"];
    if is_plain(exports) {
        written_in(exports).into_iter().for_each(|path| add(MappingKind::Module, name.to_owned(), path));
    }
    for (key, value) in exports.as_object().into_iter().flatten().filter(|(key, _)| key.starts_with('.')) {
        for path in written_in(value) {
            let from = [name, key.trim_start_matches('.')].concat();
            match (from.split_once('*'), path.split_once('*')) {
                (Some((before, _)), Some((start, _))) => add(MappingKind::ModulesBelow, before.to_owned(), start),
                (None, None) => add(MappingKind::Module, from, path),
                _ => {}
            }
        }
    }
    for field in ["source", "types", "typings", "module", "main", "browser"] {
        if let Some(path) = manifest[field].as_str() {
            add(MappingKind::Module, name.to_owned(), path);
        }
    }
    for path in ["src/index", "index", "lib/index", "src/main"] {
        add(MappingKind::Module, name.to_owned(), path);
    }
    let below = [name, "/"].concat();
    add(MappingKind::ModulesBelow, below.clone(), "");
    add(MappingKind::ModulesBelow, below, "src/");
    found
}

/// `compilerOptions.paths` and `baseUrl`, for files below the folder.
fn paths(folder: &str, manifest: &Value) -> Vec<Mapping> {
    let options = &manifest["compilerOptions"];
    let base = options["baseUrl"].as_str();
    let Some(root) = resolve_relative(folder, base.unwrap_or(".")) else { return Vec::new() };
    let mut found = Vec::new();
    // Its own `paths` stand in the place of those of the file that it extends.
    if options["paths"].as_object().is_none() {
        let extended = &manifest["extends"];
        let several = extended.as_array().into_iter().flatten();
        for written in several.chain([extended]).filter_map(Value::as_str).filter(|it| it.starts_with('.')) {
            if let Some(path) = resolve_relative(folder, written) {
                let to = path.strip_suffix(".json").unwrap_or(&path).to_owned();
                let within = folder.to_owned();
                found.push(Mapping { kind: MappingKind::Extends, from: String::new(), to, within });
            }
        }
    }
    for (pattern, targets) in options["paths"].as_object().into_iter().flatten() {
        for target in targets.as_array().into_iter().flatten().filter_map(Value::as_str) {
            let (kind, from, written) = match (pattern.split_once('*'), target.split_once('*')) {
                (Some((from, _)), Some((to, _))) => (MappingKind::ModulesBelow, from, to),
                (None, None) => (MappingKind::Module, pattern.as_str(), target),
                _ => continue,
            };
            if let Some(to) = place(&root, written) {
                found.push(Mapping { kind, from: from.to_owned(), to, within: folder.to_owned() });
            }
        }
    }
    if let Some(to) = base.and_then(|_| place(&root, "/")) {
        found.push(Mapping { kind: MappingKind::ModulesBelow, from: String::new(), to, within: folder.to_owned() });
    }
    found
}

/// Every path in an `exports` entry, whatever the conditions.
fn written_in(value: &Value) -> Vec<&str> {
    let (mut open, mut found) = (vec![value], Vec::new());
    while let Some(value) = open.pop() {
        match value {
            Value::String(path) => found.push(path.as_str()),
            Value::Object(fields) => open.extend(fields.values()),
            Value::Array(items) => open.extend(items),
            _ => {}
        }
    }
    found
}

/// A path as it may lie in the sources: what is built is not in the index.
fn sources(folder: &str, written: &str) -> Vec<String> {
    let mut found: Vec<String> = place(folder, written).into_iter().collect();
    let plain = written.trim_start_matches("./");
    for built in BUILT {
        if let Some(rest) = plain.strip_prefix(built).and_then(|rest| rest.strip_prefix('/')) {
            found.extend(place(folder, &["src/", rest].concat()));
        }
    }
    found
}

/// In the repository, without its extension; what ends in a slash stays so.
fn place(folder: &str, written: &str) -> Option<String> {
    let mut path = resolve_relative(folder, written)?;
    if (written.ends_with('/') || written.is_empty()) && !path.is_empty() {
        path.push('/');
    }
    Some(without_source_extension(&path).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(path: &str, text: &str) -> Vec<String> {
        let source = Source { repo: "app", path, text };
        mappings(&source).into_iter().map(|it| format!("{} -> {} in {:?}", it.from, it.to, it.within)).collect()
    }

    #[test]
    fn a_package_lies_where_its_exports_or_its_sources_are() {
        let text = r#"{"name": "@acme/ui", "exports": {".": {"import": "./dist/index.js"}, "./button": "./src/b.ts"}}"#;
        let said = said("packages/ui/package.json", text);
        for expected in [
            r#"@acme/ui -> packages/ui/src/index in """#,
            r#"@acme/ui/button -> packages/ui/src/b in """#,
            r#"@acme/ui/ -> packages/ui/ in """#,
        ] {
            assert!(said.iter().any(|it| it == expected), "{expected}: {said:#?}");
        }
    }

    #[test]
    fn paths_hold_for_the_folder_of_their_configuration() {
        let text = "{ // comment\n \"compilerOptions\": {\"paths\": {\"@/*\": [\"./src/*\"],}} }";
        assert_eq!(said("web/tsconfig.json", text), [r#"@/ -> web/src/ in "web""#]);
        assert_eq!(said("tsconfig.json", "[[["), [""; 0]);
    }

    #[test]
    fn a_configuration_without_paths_names_the_one_that_it_extends() {
        let text = r#"{"extends": "../../tsconfig.base.json", "compilerOptions": {"strict": true}}"#;
        assert_eq!(said("packages/ui/tsconfig.json", text), [r#" -> tsconfig.base in "packages/ui""#]);
        let text = r#"{"extends": ["./a", "@tsconfig/node18/tsconfig.json"]}"#;
        assert_eq!(said("tsconfig.json", text), [r#" -> a in """#]);
        let own = r#"{"extends": "./a.json", "compilerOptions": {"paths": {"x": ["./y.ts"]}}}"#;
        assert_eq!(said("tsconfig.json", own), [r#"x -> y in """#]);
    }
}
