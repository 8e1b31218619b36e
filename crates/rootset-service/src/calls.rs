//! Whom a call reaches, as far as it can be told from names: the same file, the same package, imports.
//!
//! Pure. A call is resolved when somebody asks, from what the files say at that moment. Where several symbols could be
//! meant, or where only the name points to one, the answer says `ambiguous`; nothing is ever made up.

use rootset_code::{Language, Sees, is_own_receiver, language_named, name_parts};
use rootset_model::code::{Call, References, SymbolKind};
use rootset_store::SymbolRow;

/// What is known about the place of a call.
#[derive(Clone, Copy, Debug)]
pub struct CallSite<'a> {
    pub repo: &'a str,
    pub path: &'a str,
    pub language: &'a str,
    pub references: &'a References,
    /// The symbol that the call stands in.
    pub caller: &'a SymbolRow,
}

/// Symbols that a call may reach, by their places among the candidates.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Resolved {
    pub symbols: Vec<usize>,
    pub is_ambiguous: bool,
}

/// `candidates` are symbols that have the call's name.
pub fn resolve(call: &Call, site: &CallSite<'_>, candidates: &[SymbolRow]) -> Resolved {
    let own_family = family(site.language);
    // Nearly all are of the same language: looking the family up is for the others.
    let is_related = |language: &str| language == site.language || family(language) == own_family;
    let in_family: Vec<usize> = (0..candidates.len()).filter(|&it| is_related(&candidates[it].language)).collect();
    let own: Vec<usize> = in_family.iter().copied().filter(|&it| candidates[it].repo == site.repo).collect();
    let found = match &call.receiver {
        Some(receiver) => with_receiver(call, receiver, site, candidates, &own, &in_family),
        None => without_receiver(call, site, candidates, &own, &in_family),
    };
    found.unwrap_or_default()
}

fn without_receiver(
    call: &Call,
    site: &CallSite<'_>,
    candidates: &[SymbolRow],
    own: &[usize],
    in_family: &[usize],
) -> Option<Resolved> {
    let mut imported = site.references.imports.iter().filter(|it| it.local.as_deref() == Some(&call.name)).peekable();
    if imported.peek().is_some() {
        // The file says where the name is from: from there or, if that is not one of ours, from nowhere.
        return certain(imported.flat_map(|it| nearest(own, in_family, candidates, &it.target)).collect(), candidates);
    }
    let is_free = |it: &usize| candidates[*it].kind != SymbolKind::Method;
    let same_container = containers(&site.caller.qualified_name).find_map(|container| {
        let found = in_container(own, candidates, &container, site.path);
        (!found.is_empty()).then_some(found)
    });
    if let Some(found) = same_container {
        return certain(found, candidates);
    }
    let same_file: Vec<usize> =
        own.iter().copied().filter(|&it| candidates[it].path == site.path).filter(is_free).collect();
    if !same_file.is_empty() {
        return certain(same_file, candidates);
    }
    let wholes = site.references.imports.iter().filter(|it| it.local.is_none());
    let from_whole: Vec<usize> =
        wholes.flat_map(|it| nearest(own, in_family, candidates, &format!("{}.{}", it.target, call.name))).collect();
    if !from_whole.is_empty() {
        return certain(from_whole, candidates);
    }
    let free: Vec<usize> = own.iter().copied().filter(is_free).collect();
    let seen = match language_named(site.language).map_or(Sees::File, Language::sees) {
        Sees::File => Vec::new(),
        Sees::Folder => {
            let folder = folder_of(site.path);
            free.iter().copied().filter(|&it| folder_of(&candidates[it].path) == folder).collect()
        }
        Sees::Repository => free.clone(),
    };
    if !seen.is_empty() {
        return certain(seen, candidates);
    }
    guessed(free)
}

fn with_receiver(
    call: &Call,
    receiver: &str,
    site: &CallSite<'_>,
    candidates: &[SymbolRow],
    own: &[usize],
    in_family: &[usize],
) -> Option<Resolved> {
    let parts = name_parts(receiver);
    let first = parts.first().copied().unwrap_or(receiver);
    if is_own_receiver(receiver) {
        let own_type = containers(&site.caller.qualified_name).find_map(|container| {
            let found = in_container(own, candidates, &container, site.path);
            (!found.is_empty()).then_some(found)
        });
        if let Some(found) = own_type {
            return certain(found, candidates);
        }
        let inherited: Vec<usize> = site
            .references
            .bases
            .iter()
            .flat_map(|base| nearest(own, in_family, candidates, &format!("{}.{}", base.target, call.name)))
            .collect();
        if !inherited.is_empty() {
            return certain(inherited, candidates);
        }
        return guessed(methods(own, candidates));
    }
    if let Some(import) = site.references.imports.iter().find(|it| it.local.as_deref() == Some(first)) {
        let rest = receiver.get(first.len()..).unwrap_or_default();
        let found = nearest(own, in_family, candidates, &format!("{}{rest}.{}", import.target, call.name));
        return if found.is_empty() { None } else { certain(found, candidates) };
    }
    // A type or module by the end of its name.
    let qualified: Vec<usize> = named(own, candidates, &format!("{receiver}.{}", call.name));
    if !qualified.is_empty() {
        return certain(qualified, candidates);
    }
    guessed(methods(own, candidates))
}

/// One symbol, however often it is defined under that name: certain. More of them: one is meant, nobody knows which.
fn certain(found: Vec<usize>, candidates: &[SymbolRow]) -> Option<Resolved> {
    let first = candidates.get(*found.first()?)?;
    let is_ambiguous = found.iter().any(|&it| candidates[it].qualified_name != first.qualified_name);
    Some(Resolved { symbols: found, is_ambiguous })
}

/// Only the name speaks for them.
fn guessed(found: Vec<usize>) -> Option<Resolved> {
    (!found.is_empty()).then_some(Resolved { symbols: found, is_ambiguous: true })
}

fn methods(places: &[usize], candidates: &[SymbolRow]) -> Vec<usize> {
    places.iter().copied().filter(|&it| candidates[it].kind == SymbolKind::Method).collect()
}

/// Candidates with this name in the caller's own repository; only where it has none, in the others.
fn nearest(own: &[usize], in_family: &[usize], candidates: &[SymbolRow], name: &str) -> Vec<usize> {
    let found = named(own, candidates, name);
    if found.is_empty() { named(in_family, candidates, name) } else { found }
}

/// Candidates whose qualified name ends with this one. Where a package is the repository's own folder, its name is not
/// in the paths, but whoever imports from it writes it.
fn named(places: &[usize], candidates: &[SymbolRow], name: &str) -> Vec<usize> {
    let wanted = name_parts(name);
    let fits = |symbol: &SymbolRow| {
        ends_with(&symbol.qualified_name, &wanted)
            || wanted.split_first().is_some_and(|(package, rest)| {
                is_named_after(package, &symbol.repo) && name_parts(&symbol.qualified_name) == rest
            })
    };
    places.iter().copied().filter(|&it| fits(&candidates[it])).collect()
}

fn is_named_after(package: &str, repo: &str) -> bool {
    package.len() == repo.len() && package.bytes().zip(repo.bytes()).all(|(a, b)| a == b || (a == b'_' && b == b'-'))
}

/// Whether a qualified name ends with these parts.
pub fn ends_with(qualified_name: &str, parts: &[&str]) -> bool {
    !parts.is_empty() && name_parts(qualified_name).ends_with(parts)
}

/// Candidates that stand directly in a container of the same file, or of another file that continues it.
fn in_container(places: &[usize], candidates: &[SymbolRow], container: &[&str], path: &str) -> Vec<usize> {
    let inside: Vec<usize> = places
        .iter()
        .copied()
        .filter(|&it| {
            let parts = name_parts(&candidates[it].qualified_name);
            parts.split_last().is_some_and(|(_, earlier)| earlier == container)
        })
        .collect();
    let here: Vec<usize> = inside.iter().copied().filter(|&it| candidates[it].path == path).collect();
    if here.is_empty() { inside } else { here }
}

/// What a symbol stands in, from the innermost out; the symbol itself first, for functions inside functions.
fn containers(qualified_name: &str) -> impl Iterator<Item = Vec<&str>> {
    let parts = name_parts(qualified_name);
    (1..=parts.len()).rev().map(move |length| parts[..length].to_vec())
}

fn folder_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// Languages whose files call each other have the same. One that this version does not know is alone.
fn family(language: &str) -> &str {
    language_named(language).map_or(language, |language| language.family())
}

#[cfg(test)]
mod tests {
    use rootset_model::MemoryId;
    use rootset_model::code::{Base, Import};

    use super::*;

    fn symbol(qualified_name: &str, kind: SymbolKind, path: &str) -> SymbolRow {
        let language = if path.ends_with(".go") { "go" } else { "python" };
        SymbolRow {
            memory: MemoryId([0; 16]),
            ordinal: 0,
            repo: "app".into(),
            path: path.into(),
            language: language.into(),
            qualified_name: qualified_name.into(),
            name: name_parts(qualified_name).last().copied().unwrap_or_default().into(),
            kind,
            first_line: 1,
            last_line: 2,
            start: 0,
            length: 0,
            signature: String::new(),
        }
    }

    fn call(name: &str, receiver: Option<&str>) -> Call {
        Call { caller: 0, name: name.into(), receiver: receiver.map(str::to_owned), line: 1 }
    }

    fn import(target: &str, local: Option<&str>) -> Import {
        Import { target: target.into(), local: local.map(str::to_owned), line: 1 }
    }

    fn resolved(call: &Call, references: &References, caller: &SymbolRow, candidates: &[SymbolRow]) -> Resolved {
        let site = CallSite { repo: "app", path: &caller.path, language: &caller.language, references, caller };
        resolve(call, &site, candidates)
    }

    fn certainly(symbols: &[usize]) -> Resolved {
        Resolved { symbols: symbols.to_vec(), is_ambiguous: false }
    }

    #[test]
    fn import_decides_between_equal_names() {
        let candidates = [
            symbol("a.store.save", SymbolKind::Function, "a/store.py"),
            symbol("b.store.save", SymbolKind::Function, "b/store.py"),
        ];
        let caller = symbol("c.main", SymbolKind::Function, "c.py");
        let references = References { imports: vec![import("b.store.save", Some("save"))], ..References::default() };
        assert_eq!(resolved(&call("save", None), &references, &caller, &candidates), certainly(&[1]));
        let references = References { imports: vec![import("a.store", Some("store"))], ..References::default() };
        assert_eq!(resolved(&call("save", Some("store")), &references, &caller, &candidates), certainly(&[0]));
    }

    #[test]
    fn package_may_be_the_repository_itself() {
        let candidates = [symbol("store.save", SymbolKind::Function, "store.py")];
        let caller = symbol("main", SymbolKind::Function, "main.py");
        let references = References { imports: vec![import("app.store.save", Some("save"))], ..References::default() };
        assert_eq!(resolved(&call("save", None), &references, &caller, &candidates), certainly(&[0]));
        let references = References { imports: vec![import("os.store.save", Some("save"))], ..References::default() };
        assert_eq!(resolved(&call("save", None), &references, &caller, &candidates), Resolved::default());
    }

    #[test]
    fn own_repository_comes_before_another_with_the_same_name() {
        let candidates = [
            SymbolRow { repo: "other".into(), ..symbol("billing.charge", SymbolKind::Function, "billing.py") },
            symbol("billing.charge", SymbolKind::Function, "billing.py"),
        ];
        let caller = symbol("orders.place", SymbolKind::Function, "orders.py");
        let references =
            References { imports: vec![import("billing.charge", Some("charge"))], ..References::default() };
        assert_eq!(resolved(&call("charge", None), &references, &caller, &candidates), certainly(&[1]));
        assert_eq!(resolved(&call("charge", None), &references, &caller, &candidates[..1]), certainly(&[0]));
    }

    #[test]
    fn name_that_is_imported_from_elsewhere_is_not_one_of_ours() {
        let candidates = [symbol("a.join", SymbolKind::Function, "a.py")];
        let caller = symbol("c.main", SymbolKind::Function, "c.py");
        let references = References { imports: vec![import("os.path.join", Some("join"))], ..References::default() };
        assert_eq!(resolved(&call("join", None), &references, &caller, &candidates), Resolved::default());
    }

    #[test]
    fn same_file_comes_before_the_rest() {
        let candidates =
            [symbol("a.save", SymbolKind::Function, "a.py"), symbol("b.save", SymbolKind::Function, "b.py")];
        let caller = symbol("b.main", SymbolKind::Function, "b.py");
        assert_eq!(resolved(&call("save", None), &References::default(), &caller, &candidates), certainly(&[1]));
    }

    #[test]
    fn only_a_name_is_ambiguous() {
        let candidates =
            [symbol("a.Store.save", SymbolKind::Method, "a.py"), symbol("b.File.save", SymbolKind::Method, "b.py")];
        let caller = symbol("c.main", SymbolKind::Function, "c.py");
        let found = resolved(&call("save", Some("thing")), &References::default(), &caller, &candidates);
        assert_eq!(found, Resolved { symbols: vec![0, 1], is_ambiguous: true });
        assert_eq!(resolved(&call("save", None), &References::default(), &caller, &candidates), Resolved::default());
    }

    #[test]
    fn own_methods_and_those_of_bases_are_found() {
        let candidates =
            [symbol("a.Base.save", SymbolKind::Method, "a.py"), symbol("b.Store.save", SymbolKind::Method, "b.py")];
        let caller = symbol("b.Store.run", SymbolKind::Method, "b.py");
        assert_eq!(
            resolved(&call("save", Some("self")), &References::default(), &caller, &candidates),
            certainly(&[1])
        );
        let base = Base { symbol: 0, target: "a.Base".into(), kind: SymbolKind::Class };
        let references = References { bases: vec![base], ..References::default() };
        assert_eq!(resolved(&call("save", Some("self")), &references, &caller, &candidates[..1]), certainly(&[0]));
    }

    #[test]
    fn files_of_one_go_package_see_each_other() {
        let candidates = [
            symbol("store.Open", SymbolKind::Function, "store/open.go"),
            symbol("file.Open", SymbolKind::Function, "file/open.go"),
        ];
        let caller = symbol("store.Run", SymbolKind::Function, "store/run.go");
        assert_eq!(resolved(&call("Open", None), &References::default(), &caller, &candidates), certainly(&[0]));
    }

    #[test]
    fn other_languages_are_not_called() {
        let candidates = [symbol("store.Open", SymbolKind::Function, "store/open.go")];
        let caller = symbol("c.main", SymbolKind::Function, "c.py");
        assert_eq!(resolved(&call("Open", None), &References::default(), &caller, &candidates), Resolved::default());
    }
}
