//! Names that a text mentions: identifiers and paths, as they are written. They tie the segments of a context window
//! together: who names again what another segment introduced refers to it.
//!
//! No dictionary and no language: a name is what looks like one. `parse_header`, `HttpClient`, `os.path.join` and
//! `src/main.rs` are names, "parser" and "42" are not. Plain words are left out on purpose, because they come back for
//! other reasons than the thing they name. Case is kept. Letters are those of ASCII: what other scripts write between
//! them separates, for every mention alike.
//!
//! Not here: search terms (see `terms`), which fold, stem and split.

/// Shorter identifiers (`x_1`, `a.b`) are too often something else.
const IDENTIFIER_BYTES_MIN: usize = 6;
/// `a/b` and `1/2` are fractions and alternatives as often as paths.
const PATH_BYTES_MIN: usize = 5;
/// Longer runs are data (Base64, minified code): nobody names them again.
const NAME_BYTES_MAX: usize = 256;
/// Of a file name with hyphens: `read-me.md` is one, `half-done.Really` is not.
const EXTENSION_BYTES_MAX: usize = 5;

/// Calls `receive` with every identifier and path that a text names, possibly repeated. A path is told whole and by its
/// file name; a dotted chain is told whole.
pub fn each_name<'t>(text: &'t str, mut receive: impl FnMut(&'t str)) {
    for run in text.split(|c: char| !is_of_run(c)) {
        read_run(run, &mut |name: &'t str| {
            if name.len() <= NAME_BYTES_MAX {
                receive(name);
            }
        });
    }
}

/// Shorter numbers are counts and steps.
const NUMBER_DIGITS_MIN: usize = 3;
/// Longer runs of digits are data.
const NUMBER_DIGITS_MAX: usize = 32;

/// Calls `receive` with every number of at least three digits, possibly repeated; not with those that only number a line.
pub fn each_number<'t>(text: &'t str, mut receive: impl FnMut(&'t str)) {
    for line in text.lines() {
        for word in without_line_number(line).split(|c: char| !c.is_alphanumeric()) {
            let is_number = (NUMBER_DIGITS_MIN..=NUMBER_DIGITS_MAX).contains(&word.len());
            if is_number && word.bytes().all(|byte| byte.is_ascii_digit()) {
                receive(word);
            }
        }
    }
}

/// `  12→fn main() {`, `12: fn main() {`: tools number the lines that they show.
fn without_line_number(line: &str) -> &str {
    let line = line.trim_start();
    let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
    if rest.len() < line.len() && rest.starts_with([':', '→', '\t', '|']) { rest } else { line }
}

/// Stable across versions and machines, because it is stored: the first eight bytes (little endian) of the name's BLAKE3.
pub fn name_hash(name: &str) -> u64 {
    let hash = blake3::hash(name.as_bytes());
    let (first, _) = hash.as_bytes().split_first_chunk().expect("a hash has 32 bytes");
    u64::from_le_bytes(*first)
}

fn is_of_run(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '/' | '-')
}

fn read_run<'t>(run: &'t str, receive: &mut impl FnMut(&'t str)) {
    let run = run.trim_start_matches("./").trim_end_matches(['.', '/', '-']);
    let body = run.trim_start_matches('/');
    if body.contains('/') {
        read_path(run, receive);
    } else if body.contains('-') && is_file_name(body) {
        receive(body);
    } else {
        read_chains(body, receive);
    }
}

fn read_path<'t>(path: &'t str, receive: &mut impl FnMut(&'t str)) {
    if path.len() >= PATH_BYTES_MIN {
        receive(path);
    }
    let file_name = path.rsplit('/').next().expect("splitting gives at least one part");
    // A leading full stop hides a file, it does not begin an extension.
    if file_name.get(1..).is_some_and(|rest| rest.contains('.')) {
        receive(file_name);
    }
}

/// Parts between full stops, none of them empty, the last one an extension.
fn is_file_name(run: &str) -> bool {
    let Some((stem, extension)) = run.rsplit_once('.') else { return false };
    let is_extension = (1..=EXTENSION_BYTES_MAX).contains(&extension.len())
        && extension.bytes().all(|byte| byte.is_ascii_alphabetic());
    is_extension && !run.starts_with('-') && stem.split('.').all(|part| !part.is_empty())
}

/// Identifiers joined by full stops; digits and hyphens before an identifier are not part of it.
fn read_chains<'t>(run: &'t str, receive: &mut impl FnMut(&'t str)) {
    let bytes = run.as_bytes();
    let mut start = 0;
    while start < bytes.len() {
        if !begins_identifier(bytes[start]) {
            start += 1;
            continue;
        }
        let mut end = start + 1;
        while end < bytes.len() && continues_chain(bytes, end) {
            end += 1;
        }
        let chain = &run[start..end];
        if chain.len() >= IDENTIFIER_BYTES_MIN && looks_like_code(chain) {
            receive(chain);
        }
        start = end;
    }
}

fn begins_identifier(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_'
}

fn continues_chain(bytes: &[u8], place: usize) -> bool {
    let byte = bytes[place];
    let joins = byte == b'.' && bytes.get(place + 1).is_some_and(|next| begins_identifier(*next));
    byte.is_ascii_alphanumeric() || byte == b'_' || joins
}

fn looks_like_code(chain: &str) -> bool {
    let is_hump =
        |pair: &[u8]| (pair[0].is_ascii_lowercase() || pair[0].is_ascii_digit()) && pair[1].is_ascii_uppercase();
    chain.contains(['_', '.']) || chain.as_bytes().windows(2).any(is_hump)
}

#[cfg(test)]
mod tests;
