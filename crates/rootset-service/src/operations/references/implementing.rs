//! Types that implement an interface without saying so, as in Go: they have all of its methods.
//!
//! Told by the names of the methods and the types of their parameters and results as they are written, so never certain. Not here:
//! types that name what they extend ([`super::hierarchy`]).

use rootset_api::{Certainty, ReferenceKind, ReferenceResult};
use rootset_code::{Naming, method_shape};
use rootset_model::code::SymbolKind;

use super::result;
use crate::error::ServiceError;
use crate::referring::Referring;
use crate::resolving::Sym;

const REASON: &str = "its type has all methods of the interface";

/// Whether types of this interface's language do not name it.
pub fn is_implicit(of: &Sym) -> bool {
    of.row.kind == SymbolKind::Interface && of.language.is_some_and(|language| language.naming() == Naming::Folders)
}

/// The types that implement one of these interfaces.
pub fn types(
    referring: &mut Referring<'_>,
    interfaces: &[Sym],
    repo: Option<&str>,
) -> Result<Vec<ReferenceResult>, ServiceError> {
    let mut results = Vec::new();
    for interface in interfaces.iter().filter(|it| is_implicit(it)) {
        if let Some(method) = methods_of(referring, interface)?.first() {
            for (of, _) in implementing(referring, interface, method, repo)? {
                results.push(result(&of, of.row.first_line, ReferenceKind::Bases, Certainty::Possible, REASON));
            }
        }
    }
    Ok(results)
}

/// The methods that stand in for a method of an interface.
pub fn methods(
    referring: &mut Referring<'_>,
    method: &Sym,
    repo: Option<&str>,
) -> Result<Vec<ReferenceResult>, ServiceError> {
    let mut results = Vec::new();
    for interface in referring.settled(|facts| facts.types_with(method))?.iter().filter(|it| is_implicit(it)) {
        for (_, own) in implementing(referring, interface, method, repo)? {
            results.push(result(&own, own.row.first_line, ReferenceKind::Overrides, Certainty::Possible, REASON));
        }
    }
    Ok(results)
}

fn methods_of(referring: &mut Referring<'_>, interface: &Sym) -> Result<Vec<Sym>, ServiceError> {
    let all = referring.symbols_of(&[interface.row.memory])?;
    let is_own = |it: &Sym| it.row.kind == SymbolKind::Method && it.container() == interface.key;
    Ok(all.into_values().filter(is_own).collect())
}

/// Types with all methods of an interface, each with its own method of the name of one of them.
fn implementing(
    referring: &mut Referring<'_>,
    interface: &Sym,
    method: &Sym,
    repo: Option<&str>,
) -> Result<Vec<(Sym, Sym)>, ServiceError> {
    let wanted = methods_of(referring, interface)?;
    let mut found: Vec<(Sym, Sym)> = Vec::new();
    let same_name = referring.settled(|facts| facts.named(&method.row.name))?;
    let is_candidate = |it: &&Sym| {
        it.row.kind == SymbolKind::Method
            && it.family() == method.family()
            && repo.is_none_or(|repo| it.row.repo == repo)
            && alike(it, method)
    };
    for own in same_name.iter().filter(is_candidate) {
        for of in referring.settled(|facts| facts.types_with(own))? {
            let mut has_all = of.row.kind != SymbolKind::Interface && !found.iter().any(|(known, _)| known.is(&of));
            for one in wanted.iter().filter(|one| one.row.name != method.row.name) {
                has_all = has_all
                    && referring
                        .settled(|facts| facts.members_named(&of, &one.row.name))?
                        .iter()
                        .any(|it| alike(it, one));
            }
            if has_all {
                found.push((of, own.clone()));
            }
        }
    }
    Ok(found)
}

/// Whether two methods of one name take and give the same types, as far as that can be read.
fn alike(a: &Sym, b: &Sym) -> bool {
    match (method_shape(&a.row.signature, &a.row.name), method_shape(&b.row.signature, &b.row.name)) {
        (Some(a), Some(b)) => a == b,
        _ => true,
    }
}
