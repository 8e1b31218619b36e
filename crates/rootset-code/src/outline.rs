//! Turns what a walk found into an outline: the module first, then parents, callers and the full names of bases.

use std::collections::{BTreeMap, BTreeSet};

use rootset_model::code::{Base, Call, Outline, References, Symbol, SymbolKind, Typed};

use crate::chunks::code_chunks;
use crate::reader::Source;
use crate::terms::name_parts;
use crate::text::{Lines, floor_boundary, line_blanks_start};
use crate::walk::{Found, FoundBase, FoundCall, FoundTyped};

/// A symbol's place in the outline from its place among what was found: the module is in front.
fn behind_module(place: usize) -> u32 {
    place as u32 + 1
}

/// Also the uses of the names that were looked for, as calls without brackets.
pub(crate) fn outline_of(source: &Source<'_>, found: Found) -> (Outline, Vec<Call>) {
    let Found { module, separator, symbols, owners, calls, uses, imports, bases, typed, .. } = in_order(found);
    let mut all = Vec::with_capacity(symbols.len() + 1);
    let lines = Lines::new(source.text);
    all.push(module_symbol(source.text, &lines, module));
    let owners = owners.into_iter().map(|owner| owner.map(|place| behind_module(place as usize)));
    let nesting = place_symbols(source.text, &lines, &mut all, symbols, owners);
    let calls = with_callers(&all, &nesting, calls);
    let uses = with_callers(&all, &nesting, uses);
    let bases = with_full_names(&all, &imports, separator, bases);
    let typed = of_symbols(&all, typed);
    let chunks = code_chunks(source.text, &all, &nesting);
    let references = References { imports, calls, bases, typed, ..References::default() };
    (Outline { symbols: all, chunks, references }, uses)
}

/// By the order of the text: `struct { … } state;` declares its variable before the walk sees what is in the struct.
fn in_order(mut found: Found) -> Found {
    if found.symbols.is_sorted_by_key(|symbol| symbol.start) {
        return found;
    }
    let mut order: Vec<usize> = (0..found.symbols.len()).collect();
    order.sort_by_key(|place| found.symbols[*place].start);
    let mut new_place = vec![0_u32; order.len()];
    for (new, old) in order.iter().enumerate() {
        new_place[*old] = new as u32;
    }
    let moved = |old: u32| new_place[old as usize];
    found.owners = order.iter().map(|old| found.owners[*old].map(moved)).collect();
    for typed in &mut found.typed {
        typed.function = typed.function.map(moved);
    }
    let mut symbols: Vec<Option<Symbol>> = found.symbols.into_iter().map(Some).collect();
    found.symbols = order.iter().filter_map(|old| symbols[*old].take()).collect();
    found
}

fn module_symbol(text: &str, lines: &Lines, qualified_name: String) -> Symbol {
    let last_line = lines.line_of(text.trim_end_matches('\n').len());
    Symbol {
        name: name_parts(&qualified_name).last().map_or_else(|| qualified_name.clone(), |name| (*name).to_owned()),
        qualified_name,
        kind: SymbolKind::Module,
        parent: None,
        start: 0,
        end: text.len() as u32,
        first_line: 1,
        last_line,
        signature: String::new(),
    }
}

/// Puts the symbols behind the module, with lines and parents, and gives for each the one that it is written in.
fn place_symbols(
    text: &str,
    lines: &Lines,
    all: &mut Vec<Symbol>,
    symbols: Vec<Symbol>,
    owners: impl Iterator<Item = Option<u32>>,
) -> Vec<u32> {
    let mut nesting = vec![0];
    let mut open = vec![0_u32];
    // Where the last sibling ended: two definitions of one declaration may claim the same comment.
    let mut free_from = 0;
    for (mut symbol, owner) in symbols.into_iter().zip(owners) {
        while let [_, .., innermost] = open[..] {
            let end = all[innermost as usize].end;
            if symbol.start < end {
                break;
            }
            free_from = free_from.max(end);
            open.pop();
        }
        let around = *open.last().expect("the module holds everything");
        let bounds = &all[around as usize];
        let earliest = free_from.max(bounds.start);
        symbol.start = symbol.start.max(earliest).min(bounds.end);
        symbol.end = with_semicolon(text, symbol.end).clamp(symbol.start, bounds.end);
        symbol.start = floor_boundary(text, symbol.start as usize) as u32;
        // With its indentation: the first line is to stand as the others do.
        if let Some(line) = line_blanks_start(text, symbol.start as usize) {
            symbol.start = (line as u32).max(earliest).min(symbol.start);
        }
        symbol.end = floor_boundary(text, symbol.end as usize) as u32;
        symbol.first_line = lines.line_of(symbol.start as usize);
        symbol.last_line = lines.line_of(last_byte(text, symbol.start, symbol.end));
        symbol.parent = Some(owner.unwrap_or(around));
        nesting.push(around);
        // What stands in a value stands in what is around it.
        if !symbol.kind.is_value() {
            open.push(all.len() as u32);
        }
        all.push(symbol);
    }
    nesting
}

/// `struct A { … };`: the semicolon is not part of the node, but people count it to the definition.
fn with_semicolon(text: &str, end: u32) -> u32 {
    let behind = text.as_bytes().get(end as usize..).unwrap_or_default();
    let blanks = behind.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    if behind.get(blanks) == Some(&b';') { end + blanks as u32 + 1 } else { end }
}

/// The place of the last byte that is not blank: some nodes end behind a line's end.
fn last_byte(text: &str, start: u32, end: u32) -> usize {
    let written = text[start as usize..end as usize].trim_end();
    (start as usize + written.len()).saturating_sub(1).max(start as usize)
}

/// Calls come in the order of the text, as symbols do: one pass over both.
fn with_callers(symbols: &[Symbol], nesting: &[u32], mut calls: Vec<FoundCall>) -> Vec<Call> {
    // Nearly: a rule may look ahead.
    calls.sort_by_key(|call| call.at);
    let mut next = 1;
    let mut innermost = 0_u32;
    let mut out = Vec::with_capacity(calls.len());
    for FoundCall { at, name, receiver, from, line } in calls {
        while let Some(symbol) = symbols.get(next).filter(|symbol| symbol.start <= at) {
            // Values call nothing: what is around them does.
            if !symbol.kind.is_value() {
                innermost = next as u32;
            }
            next += 1;
        }
        while innermost != 0 && symbols[innermost as usize].end <= at {
            innermost = nesting[innermost as usize];
        }
        out.push(Call { caller: innermost, name, receiver, from, line });
    }
    out
}

/// What is said of members and functions, each once, with the symbols that it is said of.
fn of_symbols(symbols: &[Symbol], typed: Vec<FoundTyped>) -> Vec<Typed> {
    let mut types = BTreeMap::new();
    for (place, symbol) in symbols.iter().enumerate().filter(|(_, symbol)| symbol.kind.is_type()) {
        types.entry(symbol.qualified_name.as_str()).or_insert(place as u32);
    }
    let mut out: Vec<Typed> = Vec::with_capacity(typed.len());
    let mut seen = BTreeSet::new();
    for FoundTyped { owner, function, name, from } in typed {
        let symbol = match (owner, function) {
            (_, Some(function)) => behind_module(function as usize),
            (Some(owner), None) => match types.get(owner.as_str()) {
                Some(place) => *place,
                None => continue,
            },
            (None, None) => 0,
        };
        if seen.insert((symbol, name.clone(), from.clone())) {
            out.push(Typed { symbol, name, from });
        }
    }
    out
}

/// Bases of types that this file defines, named in full where the file tells what they are.
fn with_full_names(
    symbols: &[Symbol],
    imports: &[rootset_model::code::Import],
    separator: &str,
    bases: Vec<FoundBase>,
) -> Vec<Base> {
    let mut types = BTreeMap::new();
    for (place, symbol) in symbols.iter().enumerate().filter(|(_, symbol)| symbol.kind.is_type()) {
        types.entry(symbol.qualified_name.as_str()).or_insert((place as u32, symbol.kind));
    }
    let locals: BTreeMap<&str, &str> =
        imports.iter().filter_map(|import| Some((import.local.as_deref()?, import.target.as_str()))).collect();
    let mut out: Vec<Base> = Vec::with_capacity(bases.len());
    for FoundBase { owner, scope, written, kind } in bases {
        let Some((symbol, _)) = types.get(owner.as_str()) else { continue };
        let base = match defined_here(&types, &scope, separator, &written) {
            Some((target, kind)) => Base { symbol: *symbol, target, kind },
            None => Base { symbol: *symbol, target: imported(&locals, separator, written), kind },
        };
        out.push(base);
    }
    out
}

/// Looks a name up in its own scope, then in those around it.
fn defined_here(
    types: &BTreeMap<&str, (u32, SymbolKind)>,
    scope: &str,
    separator: &str,
    written: &str,
) -> Option<(String, SymbolKind)> {
    let mut scope = scope;
    loop {
        let name = if scope.is_empty() { written.to_owned() } else { [scope, separator, written].concat() };
        if let Some((_, kind)) = types.get(name.as_str()) {
            return Some((name, *kind));
        }
        if scope.is_empty() {
            return None;
        }
        scope = scope.rfind(separator).map_or("", |at| &scope[..at]);
    }
}

/// Replaces the part of a name that an import brought in by what it stands for.
fn imported(locals: &BTreeMap<&str, &str>, separator: &str, written: String) -> String {
    let mut known = written.len();
    loop {
        if let Some(target) = locals.get(&written[..known]) {
            return [target, &written[known..]].concat();
        }
        match written[..known].rfind(separator) {
            Some(at) => known = at,
            None => return written,
        }
    }
}
