//! References that are no calls: imports, what extends a type, what overrides a method, declared types.

use rootset_api::{Certainty, Direction, ReferenceKind, ReferenceResult};

use super::{implementing, result};
use crate::error::ServiceError;
use crate::referring::Referring;
use crate::resolving::Sym;

pub fn references(
    referring: &mut Referring<'_>,
    targets: &[Sym],
    repo: Option<&str>,
    kind: ReferenceKind,
    direction: Direction,
) -> Result<Vec<ReferenceResult>, ServiceError> {
    match (kind, direction) {
        (ReferenceKind::Bases, Direction::Out) => bases_of(referring, targets),
        (ReferenceKind::Overrides, Direction::Out) => overridden(referring, targets),
        (ReferenceKind::Overrides, Direction::In) => overriding(referring, targets, repo),
        (ReferenceKind::Imports | ReferenceKind::Types, Direction::Out)
        | (ReferenceKind::Calls | ReferenceKind::Values, _) => Ok(Vec::new()),
        (_, Direction::In) => incoming(referring, targets, repo, kind),
    }
}

/// In every file that may name one of the symbols: what of it leads to them.
fn incoming(
    referring: &mut Referring<'_>,
    targets: &[Sym],
    repo: Option<&str>,
    kind: ReferenceKind,
) -> Result<Vec<ReferenceResult>, ServiceError> {
    let is_wanted = |of: &Sym| kind == ReferenceKind::Imports || of.is_type();
    let targets: Vec<Sym> = targets.iter().filter(|of| is_wanted(of)).cloned().collect();
    if targets.is_empty() {
        return Ok(Vec::new());
    }
    let mut results = Vec::new();
    if kind == ReferenceKind::Bases {
        results.extend(implementing::types(referring, &targets, repo)?);
    }
    let (_, files, _) = referring.files_with_names_of(&targets, repo)?;
    let symbols = referring.symbols_by_place(&files)?;
    let files: Vec<_> = files.into_iter().map(|file| referring.add_file(file)).collect();
    for file in files {
        let at = |place: u32| symbols.get(&(file.memory, i64::from(place)));
        let leads = |found: Vec<Sym>| found.iter().any(|it| targets.iter().any(|target| target.is(it)));
        match kind {
            ReferenceKind::Imports => {
                for import in &file.references.imports {
                    if may_lead(&import.target, &targets)
                        && leads(referring.settled(|facts| facts.imported(&file, &import.target))?)
                        && let Some(module) = at(0)
                    {
                        let line = i64::from(import.line);
                        results.push(result(module, line, kind, Certainty::Certain, "the name is imported"));
                    }
                }
            }
            ReferenceKind::Bases => {
                for base in &file.references.bases {
                    let Some(of) = at(base.symbol) else { continue };
                    if leads(referring.settled(|facts| facts.bases_named(of))?) {
                        results.push(result(of, of.row.first_line, kind, Certainty::Certain, "it extends the type"));
                    }
                }
            }
            _ => {
                for typed in file.references.typed.iter().filter(|it| it.from.starts_with('{')) {
                    let Some(of) = at(typed.symbol) else { continue };
                    if leads(referring.settled(|facts| facts.declared(&file, of, &typed.from))?) {
                        let reason =
                            if typed.name.is_empty() { "it returns the type" } else { "a member of it has the type" };
                        results.push(result(of, of.row.first_line, kind, Certainty::Certain, reason));
                    }
                }
            }
        }
    }
    Ok(results)
}

/// Whether the last part of an import could be one of the symbols, or a name that leads to it.
fn may_lead(target: &str, targets: &[Sym]) -> bool {
    let last = rootset_code::name_parts(target).last().copied().unwrap_or_default().to_owned();
    targets.iter().any(|of| of.row.name == last || of.container().ends_with(&last)) || last == "default"
}

fn bases_of(referring: &mut Referring<'_>, targets: &[Sym]) -> Result<Vec<ReferenceResult>, ServiceError> {
    let mut results = Vec::new();
    for of in targets.iter().filter(|of| of.is_type()) {
        for base in referring.settled(|facts| facts.bases_named(of))? {
            let line = base.row.first_line;
            results.push(result(&base, line, ReferenceKind::Bases, Certainty::Certain, "the type extends it"));
        }
    }
    Ok(results)
}

/// The methods of types above that a method stands in for.
fn overridden(referring: &mut Referring<'_>, targets: &[Sym]) -> Result<Vec<ReferenceResult>, ServiceError> {
    let mut results = Vec::new();
    for method in targets {
        for above in referring.settled(|facts| facts.overridden_by(method))? {
            let (line, reason) = (above.row.first_line, "the method overrides it");
            results.push(result(&above, line, ReferenceKind::Overrides, Certainty::Certain, reason));
        }
    }
    Ok(results)
}

/// Methods of the same name in types below.
fn overriding(
    referring: &mut Referring<'_>,
    targets: &[Sym],
    repo: Option<&str>,
) -> Result<Vec<ReferenceResult>, ServiceError> {
    let mut results = Vec::new();
    for method in targets.iter().filter(|it| it.row.kind == rootset_model::code::SymbolKind::Method) {
        let same_name = referring.settled(|facts| facts.named(&method.row.name))?;
        for other in same_name.iter().filter(|it| repo.is_none_or(|repo| it.row.repo == repo)) {
            if other.family() == method.family() && referring.settled(|facts| facts.is_above(method, other))? {
                let (line, reason) = (other.row.first_line, "it overrides the method");
                results.push(result(other, line, ReferenceKind::Overrides, Certainty::Certain, reason));
            }
        }
        results.extend(implementing::methods(referring, method, repo)?);
    }
    Ok(results)
}
