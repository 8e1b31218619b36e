//! Types: what they extend, and which members they have, inherited ones included.

use std::collections::VecDeque;

use rootset_code::Naming;

use super::chains::Context;
use super::facts::{Facts, File, Sym};
use super::paths::dedup;
use super::{Thing, folder_of, split_last};

/// Types above a type that are looked at; deeper hierarchies are not written by people.
const ANCESTORS_MAX: usize = 100;

impl Facts {
    /// What a type extends directly: types of the index as values, and [`Thing::Foreign`] for others.
    pub(super) fn bases(&self, of: &Sym) -> Vec<Thing> {
        let mut found = Vec::new();
        // A class may be opened in several files.
        for part in self.parts(of) {
            let Some(file) = self.file(part.row.memory) else { continue };
            let scope = part.container().to_owned();
            let context = Context { file: &file, scope: &scope };
            for base in file.bases_of(part.row.ordinal) {
                if !self.step() {
                    return vec![Thing::Unknown];
                }
                let full = self.base_path(&file, &base.target);
                let named =
                    if full.iter().any(Thing::is_known) { full } else { self.type_named(&context, &base.target) };
                let types: Vec<Thing> = named
                    .into_iter()
                    .filter_map(|it| match it {
                        Thing::Symbol(base) if base.is_type() && !base.is(&part) => Some(Thing::Value(base)),
                        _ => None,
                    })
                    .collect();
                if types.is_empty() {
                    found.push(Thing::Foreign);
                } else {
                    found.extend(types);
                }
            }
        }
        dedup(found)
    }

    /// A base as its file names it in full. Where packages are folders, the last name is not of the path.
    fn base_path(&self, file: &File, target: &str) -> Vec<Thing> {
        let is_in_folder = file.language.is_some_and(|language| language.naming() == Naming::Folders);
        match target.rsplit_once('.').filter(|_| is_in_folder) {
            Some((package, name)) => self.members(file, &self.path(file, package), name),
            None => self.path(file, target),
        }
    }

    /// The type and, where types may be opened again, its other definitions.
    fn parts(&self, of: &Sym) -> Vec<Sym> {
        let is_open = of.language.is_some_and(|language| language.naming() == Naming::Namespaces);
        let same =
            |it: &&Sym| it.is_type() && it.key == of.key && it.row.repo == of.row.repo && it.family() == of.family();
        if is_open { self.named(&of.row.name).iter().filter(same).cloned().collect() } else { vec![of.clone()] }
    }

    /// The type and all above it, nearest first, and whether all of them are in the index.
    pub(super) fn lineage(&self, of: &Sym) -> (Vec<Sym>, bool) {
        let mut all: Vec<Sym> = Vec::new();
        let mut open = VecDeque::from([of.clone()]);
        let mut is_complete = true;
        while let Some(next) = open.pop_front() {
            if all.iter().any(|it| it.is(&next)) {
                continue;
            }
            if all.len() >= ANCESTORS_MAX || !self.step() {
                return (all, false);
            }
            for base in self.bases(&next) {
                match base {
                    Thing::Value(base) => open.push_back(base),
                    _ => is_complete = false,
                }
            }
            all.push(next);
        }
        (all, is_complete)
    }

    /// Members of a type under a name: its own, else those of the nearest type above that has any. Whether all types above
    /// are in the index.
    pub(super) fn type_members(&self, of: &Sym, name: &str) -> (Vec<Sym>, bool) {
        let own = self.own_members(of, name);
        if !own.is_empty() {
            return (own, true);
        }
        let (lineage, is_complete) = self.lineage(of);
        let inherited = lineage.iter().skip(1).map(|above| self.own_members(above, name)).find(|it| !it.is_empty());
        (inherited.unwrap_or_default(), is_complete)
    }

    pub(super) fn own_members(&self, of: &Sym, name: &str) -> Vec<Sym> {
        let naming = of.language.map(|language| language.naming());
        let all = self.named(name);
        let in_type = |it: &&Sym| {
            it.container() == of.key && it.row.repo == of.row.repo && it.family() == of.family() && !it.is(of)
        };
        let mut found: Vec<Sym> = all
            .iter()
            .filter(in_type)
            .filter(|it| match naming {
                Some(Naming::Modules) => it.row.memory == of.row.memory,
                Some(Naming::Folders) => folder_of(&it.row.path) == folder_of(&of.row.path),
                _ => true,
            })
            .cloned()
            .collect();
        if found.is_empty() && naming == Some(Naming::Crates) {
            found = all.iter().filter(|it| self.is_implemented_elsewhere(it, of)).cloned().collect();
        }
        found
    }

    /// `impl Store` in another module than that of `struct Store`.
    fn is_implemented_elsewhere(&self, member: &Sym, of: &Sym) -> bool {
        let (module, name) = split_last(member.container());
        if name != of.row.name || member.row.repo != of.row.repo || member.family() != of.family() {
            return false;
        }
        let Some(file) = self.file(member.row.memory) else { return false };
        let is_defined_there = self.named_in(&file, name, module).iter().any(|it| it.is_type());
        let context = Context { file: &file, scope: module };
        !is_defined_there
            && self.name(&context, name).iter().any(|it| matches!(it, Thing::Symbol(found) if found.is(of)))
    }

    /// What a field of a type, or of a type above it, holds.
    pub(super) fn typed_members(&self, of: &Sym, name: &str) -> Vec<Thing> {
        let (lineage, _) = self.lineage(of);
        for part in lineage.iter().flat_map(|of| self.parts(of)) {
            let Some(file) = self.file(part.row.memory) else { continue };
            let context = Context { file: &file, scope: &part.key };
            let mut told = Vec::new();
            for it in file.typed(part.row.ordinal, name) {
                told.extend(self.chain(&context, &it.from));
            }
            if !told.is_empty() {
                return dedup(told);
            }
        }
        Vec::new()
    }
}
