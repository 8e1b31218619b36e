//! What a bare name stands for in a place: what is around it, imports, its package, the one namespace of its language.

use rootset_code::{Language, Naming, Sees};
use rootset_model::code::SymbolKind;

use super::chains::Context;
use super::facts::{Facts, Sym};
use super::paths::dedup;
use super::{Thing, folder_of, joined, key_of, split_last};

/// Modules that are brought in as a whole and looked at for one name.
const WHOLE_IMPORTS_MAX: usize = 60;

impl Facts {
    pub(super) fn name(&self, context: &Context<'_>, name: &str) -> Vec<Thing> {
        if !self.step() {
            return vec![Thing::Unknown];
        }
        self.deeper(|| self.name_here(context, name))
    }

    fn name_here(&self, context: &Context<'_>, name: &str) -> Vec<Thing> {
        let Some(language) = context.file.language else { return vec![Thing::Unknown] };
        let around = self.around(context, language, name);
        if !around.is_empty() {
            return around;
        }
        let imported: Vec<Thing> =
            context.file.imports_named(name).flat_map(|import| self.path(context.file, &import.target)).collect();
        if !imported.is_empty() {
            return dedup(imported);
        }
        if context.file.imports_below(name) {
            return self
                .path(context.file, name)
                .into_iter()
                .map(|it| if it.is_known() { it } else { Thing::Foreign })
                .collect();
        }
        let file_key = language.module_at(&context.file.repo, &context.file.path);
        let module = super::key_of(&file_key);
        let held: Vec<Thing> = context
            .file
            .typed(0, name)
            .flat_map(|it| self.chain(&Context::of_module(context.file, &module), &it.from))
            .collect();
        if !held.is_empty() {
            return dedup(held);
        }
        let whole = self.brought_in(context, name);
        if whole.iter().any(Thing::is_known) {
            return whole;
        }
        self.everywhere(context, language, name)
    }

    /// From the innermost container out.
    fn around(&self, context: &Context<'_>, language: &Language, name: &str) -> Vec<Thing> {
        let file = context.file;
        let mut container = context.scope;
        loop {
            let found: Vec<Sym> = self
                .named_in(file, name, container)
                .into_iter()
                .filter(|it| it.row.repo == file.repo && self.is_visible(file.memory, &file.path, language, it))
                .filter(|it| language.has_implicit_members() || !it.is_member())
                // A constructor is called by the name of its type, which stands further out.
                .filter(|it| it.row.kind != SymbolKind::Method || split_last(it.container()).1 != it.row.name)
                .collect();
            let here: Vec<Sym> = found.iter().filter(|it| it.row.memory == file.memory).cloned().collect();
            let nearest = if here.is_empty() { found } else { here };
            if !nearest.is_empty() {
                return nearest
                    .into_iter()
                    .map(|it| if it.is_module() { Thing::Module(it.key.clone()) } else { Thing::Symbol(it) })
                    .collect();
            }
            if language.has_implicit_members() && !container.is_empty() && split_last(container).1 != name {
                let inherited = self.inherited_in(context, container, name);
                if !inherited.is_empty() {
                    return inherited;
                }
            }
            if container.is_empty() {
                return Vec::new();
            }
            container = split_last(container).0;
        }
    }

    /// A member that the type of this name inherits, or what a field of it holds.
    fn inherited_in(&self, context: &Context<'_>, container: &str, name: &str) -> Vec<Thing> {
        let (outer, own) = split_last(container);
        for of in self.named_in(context.file, own, outer).into_iter().filter(|it| it.is_type()) {
            let (members, _) = self.type_members(&of, name);
            if !members.is_empty() {
                return members.into_iter().map(Thing::Symbol).collect();
            }
            let typed = self.typed_members(&of, name);
            if !typed.is_empty() {
                return typed;
            }
        }
        Vec::new()
    }

    /// Whether a file sees a symbol of a container around it without an import.
    fn is_visible(&self, memory: rootset_model::MemoryId, path: &str, language: &Language, symbol: &Sym) -> bool {
        match language.naming() {
            Naming::Modules | Naming::Crates => symbol.row.memory == memory,
            Naming::Folders => folder_of(&symbol.row.path) == folder_of(path),
            Naming::Namespaces => true,
            Naming::Global => !is_private(symbol) || symbol.row.memory == memory,
        }
    }

    /// Names of modules that the file brings in as a whole.
    fn brought_in(&self, context: &Context<'_>, name: &str) -> Vec<Thing> {
        for import in context.file.whole_imports().take(WHOLE_IMPORTS_MAX) {
            let separator = if import.target.contains("::") { "::" } else { "." };
            let found = self.path(context.file, &[import.target.as_str(), separator, name].concat());
            if found.iter().any(Thing::is_known) {
                return found;
            }
        }
        Vec::new()
    }

    /// Where a language has one namespace, or a folder is one package.
    fn everywhere(&self, context: &Context<'_>, language: &Language, name: &str) -> Vec<Thing> {
        let file = context.file;
        // In C, the members of an enum are as free as functions.
        let is_enum_member = language.naming() == Naming::Global && language.sees() == Sees::Repository;
        let is_free = |it: &Sym| {
            let is_member = it.is_member() && !(is_enum_member && it.row.kind == SymbolKind::EnumMember);
            it.row.repo == file.repo && !is_member && !it.is_module()
        };
        let all = self
            .related(file, name)
            .into_iter()
            .filter(|it| is_free(it) && !(is_private(it) && it.row.memory != file.memory));
        let seen: Vec<Sym> = match language.sees() {
            Sees::File => return vec![Thing::Foreign],
            // Packages were looked at as containers.
            Sees::Folder => all
                .filter(|it| it.row.kind == SymbolKind::Function && !it.container().contains('.'))
                .filter(|it| folder_of(&it.row.path) == folder_of(&file.path))
                .collect(),
            Sees::Repository => {
                all.filter(|it| language.naming() == Naming::Global || it.container().is_empty()).collect()
            }
        };
        let same_file: Vec<Sym> = seen.iter().filter(|it| it.row.memory == file.memory).cloned().collect();
        let nearest = if same_file.is_empty() { seen } else { same_file };
        if nearest.is_empty() { vec![Thing::Foreign] } else { nearest.into_iter().map(Thing::Symbol).collect() }
    }

    /// A name in several parts in a language whose namespaces are no symbols: below an import, below everything around.
    pub(super) fn qualified(&self, context: &Context<'_>, key: &str) -> Vec<Thing> {
        let (head, rest) = key.split_once('.').unwrap_or((key, ""));
        for import in context.file.imports_named(head) {
            let found = self.namespace_path(context.file, &joined(&key_of(&import.target), rest));
            if found.iter().any(Thing::is_known) {
                return found;
            }
        }
        let mut container = context.scope;
        loop {
            let found = self.namespace_path(context.file, &joined(container, key));
            if found.iter().any(Thing::is_known) {
                return found;
            }
            if container.is_empty() {
                break;
            }
            container = split_last(container).0;
        }
        for import in context.file.whole_imports().take(WHOLE_IMPORTS_MAX) {
            let found = self.namespace_path(context.file, &joined(&key_of(&import.target), key));
            if found.iter().any(Thing::is_known) {
                return found;
            }
        }
        vec![Thing::Foreign]
    }
}

/// Of C: no other file sees it.
fn is_private(symbol: &Sym) -> bool {
    symbol.language.is_some_and(|language| language.sees() == Sees::Repository)
        && symbol.row.signature.starts_with("static ")
        && !symbol.row.path.ends_with(".h")
}
