//! Where a name leads that is written in full: through the module map, modules, re-exports and nested types.

use rootset_code::{Naming, is_test};
use rootset_model::code::{MappingKind, PACKAGE_MARK};

use super::chains::Context;
use super::facts::{Facts, File, Sym};
use super::{Thing, folder_of, joined, key_of, split_last};

/// Modules that bring in everything of this many others are not followed further.
const WHOLE_IMPORTS_MAX: usize = 60;

/// Folders that hold packages and are none themselves.
const SOURCE_FOLDERS: [&str; 4] = ["src", "lib", "python", "source"];

impl Facts {
    /// What a target of an import stands for.
    pub(super) fn path(&self, file: &File, target: &str) -> Vec<Thing> {
        let place = (file.repo.clone(), folder_of(&file.path).to_owned(), target.to_owned(), self.sees_values());
        if let Some(known) = self.paths.borrow().get(&place) {
            return known.clone();
        }
        if !self.step() {
            return vec![Thing::Unknown];
        }
        let missed = self.missed();
        let found = self.deeper(|| match file.language.map(|language| language.naming()) {
            Some(Naming::Folders) => self.go_package(file, target),
            Some(Naming::Crates) => self.crate_path(file, target),
            Some(Naming::Modules) => self.module_path(file, target),
            _ => self.namespace_path(file, &key_of(target)),
        });
        if self.missed() == missed && self.is_complete() {
            self.paths.borrow_mut().insert(place, found.clone());
        }
        found
    }

    fn go_package(&self, file: &File, target: &str) -> Vec<Thing> {
        let modules = self.mappings(&file.repo).iter().filter(|it| it.kind == MappingKind::GoModule);
        let below = |from: &str| match target.strip_prefix(from) {
            Some(rest) if rest.is_empty() || rest.starts_with('/') => Some(rest.trim_start_matches('/').to_owned()),
            // The standard library names its packages without its own name.
            _ if from == "std" && !target.split('/').next().unwrap_or_default().contains('.') => {
                Some(target.to_owned())
            }
            _ => None,
        };
        let mut is_module = false;
        let mut best: Option<(usize, String)> = None;
        for module in modules {
            is_module = true;
            if let Some(rest) = below(&module.from) {
                let length = if module.from == "std" { 0 } else { module.from.len() };
                let folder = if module.to.is_empty() || rest.is_empty() {
                    [module.to.as_str(), &rest].concat()
                } else {
                    [&module.to, "/", &rest].concat()
                };
                if best.as_ref().is_none_or(|(known, _)| *known < length) {
                    best = Some((length, folder));
                }
            }
        }
        match best {
            Some((_, folder)) => vec![Thing::Folder(folder)],
            None if is_module => vec![Thing::Foreign],
            // Without a module, the path ends like the folder does.
            None => vec![Thing::Folder(["*/", target].concat())],
        }
    }

    fn crate_path(&self, file: &File, target: &str) -> Vec<Thing> {
        let key = key_of(target);
        let (first, rest) = key.split_once('.').unwrap_or((&key, ""));
        let Some(language) = file.language else { return vec![Thing::Unknown] };
        let here = key_of(&language.module_at(&file.repo, &file.path));
        let own_crate = here.split('.').next().unwrap_or_default();
        let mut roots = Vec::new();
        for mapping in self.mappings(&file.repo).iter().filter(|it| it.kind == MappingKind::Crate && it.from == first) {
            let library = joined_path(&mapping.to, "src/lib.rs");
            roots.push(key_of(&language.module_at(&file.repo, &library)));
        }
        if first == own_crate || !self.named_in(file, first, "").is_empty() {
            roots.push(first.to_owned());
        }
        roots.push(joined(&here, first));
        roots.push(first.to_owned());
        for root in roots {
            let found = self.in_module(file, &joined(&root, rest));
            if found.iter().any(Thing::is_known) {
                return found;
            }
        }
        vec![Thing::Foreign]
    }

    /// Python and JavaScript: the longest part of the name that is a module, then its members.
    fn module_path(&self, file: &File, target: &str) -> Vec<Thing> {
        let Some(default) = file.language.and_then(|language| language.default_member()) else {
            return self.in_module(file, &key_of(target));
        };
        let package = target.strip_prefix(PACKAGE_MARK);
        let mut found = self.mapped_module(file, package.unwrap_or(target));
        if found.is_empty() {
            // A package that no manifest of the repository has: a module of the same name is another.
            found = if package.is_some() { vec![Thing::Foreign] } else { self.in_module(file, &key_of(target)) };
        }
        if !found.iter().any(Thing::is_known)
            && let Some(module) = target.strip_suffix(default).and_then(|module| module.strip_suffix('.'))
        {
            // A module that exports nothing as its default is imported as a whole.
            let whole = self.module_path(file, module);
            if matches!(whole.as_slice(), [Thing::Module(_)]) {
                return whole;
            }
        }
        found
    }

    /// What `tsconfig.json` and `package.json` make of a name; the longest beginning counts.
    fn mapped_module(&self, file: &File, target: &str) -> Vec<Thing> {
        let Some(language) = file.language else { return Vec::new() };
        let mut fitting: Vec<(usize, String)> = Vec::new();
        for mapping in self.mappings(&file.repo) {
            let is_within = mapping.within.is_empty()
                || file.path.strip_prefix(&mapping.within).is_some_and(|it| it.starts_with('/'));
            let Some(rest) = target.strip_prefix(&mapping.from).filter(|_| is_within) else { continue };
            let key = match mapping.kind {
                MappingKind::Module if rest.is_empty() || rest.starts_with('.') => {
                    joined(&key_of(&language.module_at(&file.repo, &mapping.to)), &key_of(rest))
                }
                MappingKind::ModulesBelow => {
                    let path = [mapping.to.as_str(), rest].concat().replace("/index.", ".");
                    key_of(&language.module_at(&file.repo, &path))
                }
                _ => continue,
            };
            fitting.push((mapping.from.len() + mapping.within.len(), key));
        }
        fitting.sort_by_key(|(length, _)| std::cmp::Reverse(*length));
        for (_, key) in fitting {
            let found = self.in_module(file, &key);
            if found.iter().any(Thing::is_known) {
                return found;
            }
        }
        Vec::new()
    }

    /// A name that begins at the modules of this repository.
    pub(super) fn in_module(&self, file: &File, key: &str) -> Vec<Thing> {
        let exact = self.exactly(file, key);
        if !exact.is_empty() {
            return exact;
        }
        let mut end = key.len();
        loop {
            let modules = self.modules(file, &key[..end]);
            if let Some(module) = modules.first() {
                let mut found = vec![Thing::Module(module.key.clone())];
                for name in key[end..].split('.').filter(|name| !name.is_empty()) {
                    found = self.members(file, &found, name);
                }
                return found;
            }
            match key[..end].rfind('.') {
                Some(at) => end = at,
                None => return vec![Thing::Foreign],
            }
        }
    }

    /// Modules with this name. Where a package lies below another folder than the repository's, the name is written
    /// without it: allowed for folders that are no packages themselves and hold the importing file, or are known to hold
    /// sources.
    fn modules(&self, file: &File, key: &str) -> Vec<Sym> {
        let name = split_last(key).1;
        let all: Vec<Sym> =
            self.related(file, name).into_iter().filter(|it| it.is_module() && it.row.repo == file.repo).collect();
        let exact: Vec<Sym> = all.iter().filter(|it| it.key == key).cloned().collect();
        if !exact.is_empty() {
            return exact;
        }
        let is_script = file.language.is_some_and(|language| language.default_member().is_some());
        let mut fitting: Vec<Sym> = all
            .into_iter()
            .filter(|it| {
                let Some(before) = it.key.strip_suffix(key).and_then(|before| before.strip_suffix('.')) else {
                    // Where a package is the repository's own folder, its name is not in the paths.
                    return key.strip_suffix(&it.key).is_some_and(|rest| is_named_after(rest, &file.repo));
                };
                let folder = before.replace('.', "/");
                let holds = file.path.starts_with(&[&folder, "/"].concat());
                let is_source = SOURCE_FOLDERS.contains(&split_last(before).1);
                !is_script && (holds || is_source && !is_test(&it.row.path)) && !self.is_package(file, before)
            })
            .collect();
        fitting.sort_by_key(|it| (is_test(&it.row.path), it.key.len()));
        fitting
    }

    fn is_package(&self, file: &File, key: &str) -> bool {
        let name = split_last(key).1;
        self.named_in(file, name, split_last(key).0).iter().any(|it| it.is_module() && it.key == key)
    }

    /// Symbols with just this name: types, functions, modules.
    fn exactly(&self, file: &File, key: &str) -> Vec<Thing> {
        let (container, name) = split_last(key);
        let found = self.named_in(file, name, container);
        found
            .into_iter()
            .map(|it| if it.is_module() { Thing::Module(it.key.clone()) } else { Thing::Symbol(it) })
            .collect()
    }

    /// Java, C#, PHP, C++, Ruby: a name in full, or a member of one.
    pub(super) fn namespace_path(&self, file: &File, key: &str) -> Vec<Thing> {
        let mut end = key.len();
        loop {
            let found = self.exactly(file, &key[..end]);
            let types: Vec<Thing> = found
                .into_iter()
                .filter(|it| end == key.len() || matches!(it, Thing::Symbol(of) if of.is_type()))
                .collect();
            if !types.is_empty() {
                let mut found = types;
                for name in key[end..].split('.').filter(|name| !name.is_empty()) {
                    found = self.members(file, &found, name);
                }
                return found;
            }
            match key[..end].rfind('.') {
                Some(at) => end = at,
                None => return vec![Thing::Foreign],
            }
        }
    }

    /// What a module, type or value has under a name.
    pub(super) fn members(&self, file: &File, of: &[Thing], name: &str) -> Vec<Thing> {
        let mut found: Vec<Thing> = Vec::new();
        for thing in of {
            if !self.step() {
                return vec![Thing::Unknown];
            }
            match thing {
                Thing::Module(key) => found.extend(self.module_members(file, key, name)),
                Thing::Folder(folder) => found.extend(self.folder_members(file, folder, name)),
                Thing::Object(places) => found.extend(self.object_members(file, places, name)),
                Thing::Symbol(of) | Thing::Value(of) if of.is_type() => {
                    let language = of.language;
                    let (members, is_complete) = self.type_members(of, name);
                    if !members.is_empty() {
                        found.extend(members.into_iter().map(Thing::Symbol));
                        continue;
                    }
                    let typed = self.typed_members(of, name);
                    if !typed.is_empty() {
                        found.extend(typed);
                    } else if language.is_some_and(|it| it.is_constructor(name)) {
                        found.push(Thing::Value(of.clone()));
                    } else if matches!(thing, Thing::Value(_)) && language.is_some_and(|it| it.passes(name)) {
                        found.push(thing.clone());
                    } else {
                        found.push(if is_complete { Thing::Unknown } else { Thing::Foreign });
                    }
                }
                // A member of a function, a module's variable: nobody knows.
                Thing::Symbol(_) | Thing::Value(_) | Thing::Unknown => found.push(Thing::Unknown),
                Thing::Foreign => found.push(Thing::Foreign),
            }
        }
        dedup(found)
    }

    /// A function or type in a namespace or object of a script; or what may be another one.
    fn object_members(&self, file: &File, places: &[String], name: &str) -> Vec<Thing> {
        let within = |place: &String| {
            let found = self.named_in(file, name, place);
            let symbols: Vec<Thing> = found.into_iter().filter(|it| !it.is_module()).map(Thing::Symbol).collect();
            (!symbols.is_empty()).then_some(symbols)
        };
        let deeper = || vec![Thing::Object(places.iter().map(|place| joined(place, name)).collect())];
        places.iter().find_map(within).unwrap_or_else(deeper)
    }

    fn folder_members(&self, file: &File, folder: &str, name: &str) -> Vec<Thing> {
        let fits = |it: &Sym| {
            let of = folder_of(&it.row.path);
            match folder.strip_prefix('*') {
                Some(end) => of.ends_with(end) || of == &end[1..],
                None => of == folder,
            }
        };
        let found: Vec<Thing> = self
            .related(file, name)
            .into_iter()
            .filter(|it| !it.container().contains('.') && !it.is_module() && it.row.repo == file.repo && fits(it))
            .map(Thing::Symbol)
            .collect();
        if found.is_empty() { vec![Thing::Foreign] } else { found }
    }

    /// What stands in a module, what it brings in from others, and what its variables hold.
    fn module_members(&self, file: &File, key: &str, name: &str) -> Vec<Thing> {
        let mut direct = self.exactly(file, &joined(key, name));
        if file.language.is_some_and(|language| language.default_member().is_some()) {
            // A file beside `index.js` is no member of it.
            direct.retain(|it| !matches!(it, Thing::Module(_)));
        }
        if !direct.is_empty() {
            return direct;
        }
        let (container, own) = split_last(key);
        let mut is_ours = false;
        for module in self.named_in(file, own, container).into_iter().filter(|it| it.is_module()) {
            is_ours = true;
            let Some(of) = self.file(module.row.memory) else { continue };
            if !self.step() {
                return vec![Thing::Unknown];
            }
            let imported: Vec<Thing> =
                of.imports_named(name).flat_map(|import| self.path(&of, &import.target)).collect();
            if !imported.is_empty() {
                return dedup(imported);
            }
            let typed: Vec<Thing> =
                of.typed(0, name).flat_map(|it| self.chain(&Context::of_module(&of, key), &it.from)).collect();
            if !typed.is_empty() {
                return dedup(typed);
            }
            for import in of.whole_imports().take(WHOLE_IMPORTS_MAX) {
                let separator = if import.target.contains("::") { "::" } else { "." };
                let found = self.path(&of, &[&import.target, separator, name].concat());
                if found.iter().any(Thing::is_known) {
                    return found;
                }
            }
        }
        let is_script = file.language.is_some_and(|language| language.default_member().is_some());
        vec![match is_ours {
            true if is_script => Thing::Object(vec![joined(key, name)]),
            true => Thing::Unknown,
            false => Thing::Foreign,
        }]
    }

    /// Symbols of the file's family with a name in a container: the repository's own if it has any.
    pub(super) fn named_in(&self, file: &File, name: &str, container: &str) -> Vec<Sym> {
        let fits = |it: &Sym| it.container() == container && it.row.name == name;
        let all: Vec<Sym> = self.related(file, name).into_iter().filter(fits).collect();
        let own: Vec<Sym> = all.iter().filter(|it| it.row.repo == file.repo).cloned().collect();
        if own.is_empty() { all } else { own }
    }

    /// Symbols with this name that the file's language could name.
    pub(super) fn related(&self, file: &File, name: &str) -> Vec<Sym> {
        let family = file.family();
        self.named(name).iter().filter(|it| it.family() == family).cloned().collect()
    }
}

fn is_named_after(rest: &str, repo: &str) -> bool {
    let package = rest.trim_end_matches('.');
    package.len() == repo.len() && package.bytes().zip(repo.bytes()).all(|(a, b)| a == b || (a == b'_' && b == b'-'))
}

fn joined_path(folder: &str, path: &str) -> String {
    if folder.is_empty() { path.to_owned() } else { [folder, "/", path].concat() }
}

/// Each thing once, in the order given.
pub(super) fn dedup(things: Vec<Thing>) -> Vec<Thing> {
    let mut out: Vec<Thing> = Vec::with_capacity(things.len());
    for thing in things {
        let is_same = |known: &Thing| match (known, &thing) {
            (Thing::Symbol(a), Thing::Symbol(b)) | (Thing::Value(a), Thing::Value(b)) => a.is(b),
            (Thing::Module(a), Thing::Module(b)) | (Thing::Folder(a), Thing::Folder(b)) => a == b,
            (Thing::Object(a), Thing::Object(b)) => a == b,
            (Thing::Foreign, Thing::Foreign) | (Thing::Unknown, Thing::Unknown) => true,
            _ => false,
        };
        if !out.iter().any(is_same) {
            out.push(thing);
        }
    }
    out
}
