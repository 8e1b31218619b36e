//! Expressions and types as chains of names (`rootset_model::code::Typed::from`), told from their text in any language:
//! `(await this.store!).open(path)?.read` is `this.store.open().read`. Not here: what the names mean.
//!
//! Work is bounded by [`WRITTEN_BYTES_MAX`]: what is longer is an expression that nobody can name.

/// Longer expressions are not looked at: a chain of thousands of calls would be read once per call.
const WRITTEN_BYTES_MAX: usize = 1_000;
/// Longer chains say nothing that could be followed.
const CHAIN_BYTES_MAX: usize = 160;

/// A value of a type that no source here defines: literals.
pub(crate) const FOREIGN: &str = "{}";
/// Nothing is known.
pub(crate) const UNKNOWN: &str = "?";

/// Words before an expression that do not change whose member is called.
const PREFIXES: [&str; 6] = ["await ", "&mut ", "&", "*", "mut ", "yield "];

/// Types whose values stand for values of their first argument.
const WRAPPERS: [&str; 26] = [
    "Optional",
    "Option",
    "Result",
    "Box",
    "Rc",
    "Arc",
    "Ref",
    "RefMut",
    "RefCell",
    "Cell",
    "Mutex",
    "RwLock",
    "MutexGuard",
    "Pin",
    "Cow",
    "Promise",
    "Awaitable",
    "Annotated",
    "ClassVar",
    "Final",
    "Readonly",
    "Partial",
    "unique_ptr",
    "shared_ptr",
    "weak_ptr",
    "Task",
];

/// `None` for what is no chain: sums, conditions, functions.
pub(crate) fn chain(written: &str) -> Option<String> {
    let mut rest = written.trim();
    if rest.len() > WRITTEN_BYTES_MAX {
        return None;
    }
    let mut out = String::new();
    while let Some(shorter) = PREFIXES.iter().find_map(|prefix| rest.strip_prefix(prefix)) {
        rest = shorter.trim_start();
    }
    if let Some(of) = rest.strip_prefix("new ") {
        let end = of.find(|c: char| !is_name(c) && !matches!(c, '.' | ':' | '\\')).unwrap_or(of.len());
        out = format!("{{{}}}", of[..end].trim());
        rest = of[end..].trim_start();
        if rest.starts_with('<') {
            rest = behind_brackets(rest)?;
        }
        if rest.starts_with('(') {
            rest = behind_brackets(rest)?;
        }
    } else if rest.starts_with('(') {
        let behind = behind_brackets(rest)?;
        let inner = rest[1..rest.len() - behind.len() - 1].trim();
        out = in_parentheses(inner)?;
        rest = behind;
    } else if rest.starts_with(['"', '\'', '`', '[', '{', '/']) || rest.starts_with(|c: char| c.is_ascii_digit()) {
        // What follows a literal in a chain is of no interest: nothing of it is ours.
        return Some(FOREIGN.to_owned());
    } else {
        rest = rest.trim_start_matches("::");
    }
    links(rest, out)
}

/// `x as T` and `(T) x` are of that type.
fn in_parentheses(inner: &str) -> Option<String> {
    if let Some((_, of)) = inner.rsplit_once(" as ") {
        return value_of_type(of);
    }
    if inner.starts_with('(') {
        let behind = behind_brackets(inner)?;
        if behind.trim_start().starts_with(is_name) {
            return value_of_type(&inner[1..inner.len() - behind.len() - 1]);
        }
    }
    chain(inner)
}

/// What follows the beginning of a chain: names, calls, places in lists.
fn links(written: &str, mut out: String) -> Option<String> {
    let mut rest = written;
    let mut after_joint = out.is_empty();
    loop {
        let trimmed = rest.trim_start();
        if trimmed.is_empty() {
            return (!out.is_empty() && !after_joint && out.len() <= CHAIN_BYTES_MAX).then_some(out);
        }
        let joint =
            ["?.", "->", "::", "&.", ".", "\\"].into_iter().find_map(|it| Some((it, trimmed.strip_prefix(it)?)));
        if let Some((joint, behind)) = joint {
            if after_joint {
                return None;
            }
            rest = behind.trim_start();
            if rest.starts_with('<') {
                // `collect::<Vec<_>>()`
                rest = behind_brackets(rest)?;
                continue;
            }
            if let Some(behind) = rest.strip_prefix("await").filter(|it| !it.starts_with(is_name)) {
                rest = behind;
                continue;
            }
            out.push_str(if matches!(joint, "::" | "\\") { joint } else { "." });
            after_joint = true;
            continue;
        }
        let first = trimmed.chars().next().unwrap_or_default();
        if is_name(first) && after_joint {
            let end = trimmed.find(|c: char| !is_name(c)).unwrap_or(trimmed.len());
            out.push_str(&trimmed[..end]);
            rest = &trimmed[end..];
            after_joint = false;
            continue;
        }
        if after_joint {
            return None;
        }
        match first {
            '(' => {
                rest = behind_brackets(trimmed)?;
                out.push_str("()");
            }
            '[' => {
                rest = behind_brackets(trimmed)?;
                out.push_str("[]");
            }
            '<' => rest = behind_brackets(trimmed).filter(|it| it.starts_with(['(', '.', ':', '{']))?,
            // `Server{…}`, `Point { … }`
            '{' if !out.ends_with([')', ']', '}']) => {
                rest = behind_brackets(trimmed)?;
                out = format!("{{{out}}}");
            }
            '?' => rest = &trimmed[1..],
            '!' if !trimmed[1..].starts_with(['(', '[', '{', '=']) => rest = &trimmed[1..],
            _ => return None,
        }
        if out.len() > CHAIN_BYTES_MAX {
            return None;
        }
    }
}

/// `{T}` for a type as written, without what wraps it.
pub(crate) fn value_of_type(written: &str) -> Option<String> {
    let mut written = written;
    // Wrappers of wrappers; deeper ones are not written by people.
    for _ in 0..8 {
        written = written.trim().trim_start_matches([':', '?', '&', '*']).trim();
        if let Some(lifetime) = written.strip_prefix('\'').filter(|it| !it.ends_with('\'')) {
            written = lifetime.split_once(' ')?.1;
            continue;
        }
        written = written.trim_matches(['"', '\'']).trim_end_matches(['?', '&', '*']).trim();
        for word in ["mut ", "dyn ", "impl ", "const ", "final ", "readonly ", "->"] {
            written = written.strip_prefix(word).unwrap_or(written).trim_start();
        }
        if written.len() > WRITTEN_BYTES_MAX {
            return None;
        }
        let mut alternatives = top_level(written, '|').into_iter().map(str::trim);
        let mut of = alternatives.by_ref().filter(|it| !matches!(*it, "None" | "null" | "undefined" | "nil" | ""));
        let only = of.next()?;
        if of.next().is_some() {
            return None;
        }
        written = only;
        let end = written.find(|c: char| !is_name(c) && !matches!(c, '.' | ':' | '\\')).unwrap_or(written.len());
        let (head, arguments) = (&written[..end], written[end..].trim());
        let last = head.rsplit(['.', ':', '\\']).next().unwrap_or(head);
        // `T` and `K1` are parameters: nobody says here what they stand for.
        let is_parameter = head.len() <= 2 && head.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit());
        if head.is_empty() || is_parameter {
            return None;
        }
        match arguments.chars().next() {
            Some('[' | '<') if WRAPPERS.contains(&last) => {
                let behind = behind_brackets(arguments)?;
                let inner = &arguments[1..arguments.len() - behind.len() - 1];
                written = top_level(inner, ',').into_iter().find(|it| !it.trim().starts_with('\''))?;
                continue;
            }
            // An array of them is none of them.
            Some('[') if arguments.starts_with("[]") => return Some(FOREIGN.to_owned()),
            Some('[' | '<') => {
                behind_brackets(arguments).filter(|it| it.trim().is_empty())?;
            }
            // `impl A + B`
            Some('+') | None => {}
            Some(_) => return None,
        }
        let bound = head.trim_matches(':');
        return (bound.len() <= CHAIN_BYTES_MAX).then(|| format!("{{{bound}}}"));
    }
    None
}

/// The parts between separators that are in no bracket.
fn top_level(text: &str, separator: char) -> Vec<&str> {
    let (mut parts, mut depth, mut start) = (Vec::new(), 0_usize, 0);
    for (at, character) in text.char_indices() {
        match character {
            '<' | '[' | '(' | '{' => depth += 1,
            '>' | ']' | ')' | '}' => depth = depth.saturating_sub(1),
            it if it == separator && depth == 0 => {
                parts.push(&text[start..at]);
                start = at + it.len_utf8();
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

/// What follows the bracket that the text begins with. Brackets in quotes do not count.
fn behind_brackets(text: &str) -> Option<&str> {
    let bytes = text.as_bytes();
    let opens_angle = bytes.first() == Some(&b'<');
    let (mut depth, mut at) = (0_usize, 0);
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b'<' if opens_angle => depth += 1,
            b')' | b']' | b'}' => depth = depth.checked_sub(1)?,
            b'>' if opens_angle && at > 0 && !matches!(bytes[at - 1], b'-' | b'=') => depth = depth.checked_sub(1)?,
            b'"' | b'`' | b'\'' => {
                // A lifetime is no quote.
                let line = &bytes[at + 1..];
                let end = line.iter().position(|it| it == byte || (*byte != b'`' && *it == b'\n'));
                if let Some(end) = end.filter(|&end| line[end] == *byte) {
                    at += end + 1;
                }
            }
            _ => {}
        }
        at += 1;
        if depth == 0 {
            return text.get(at..);
        }
    }
    None
}

fn is_name(character: char) -> bool {
    character.is_alphanumeric() || matches!(character, '_' | '$' | '@')
}

/// The first name of a chain, and what follows it.
pub(crate) fn head(chain: &str) -> (&str, &str) {
    let end = chain.find(|c: char| !is_name(c)).unwrap_or(chain.len());
    chain.split_at(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_expression_is_a_chain_of_names_or_nothing() {
        for (written, expected) in [
            ("self.store", Some("self.store")),
            ("(await this.store!).open(path)?.read", Some("this.store.open().read")),
            ("new Store<Item>(a, b).open()", Some("{Store}.open()")),
            ("&Server{addr: \")\"}", Some("{Server}")),
            ("Store::<T>::new(1)?", Some("Store::new()")),
            ("crate::cart", Some("crate::cart")),
            ("items[0].price", Some("items[].price")),
            ("(x as Store).y", Some("{Store}.y")),
            ("((Store) x)", Some("{Store}")),
            ("\", \".join(names)", Some("{}")),
            ("this->store_", Some("this.store_")),
            ("$this->store", Some("$this.store")),
            ("super()", Some("super()")),
            ("a + b", None),
            ("a ? b : c", None),
            ("vec![1]", None),
            ("", None),
        ] {
            assert_eq!(chain(written).as_deref(), expected, "{written}");
        }
    }

    #[test]
    fn a_type_is_what_its_wrappers_hold() {
        for (written, expected) in [
            ("Store", Some("{Store}")),
            (": app.Store", Some("{app.Store}")),
            ("Optional[\"Store\"]", Some("{Store}")),
            ("Store | None", Some("{Store}")),
            ("&'a mut Store", Some("{Store}")),
            ("Arc<Mutex<Store>>", Some("{Store}")),
            ("Result<Store, Error>", Some("{Store}")),
            ("Box<dyn Trait + Send>", Some("{Trait}")),
            ("List<Store>", Some("{List}")),
            ("Store[]", Some("{}")),
            ("A | B", None),
            ("T", None),
            ("(a: A) => B", None),
        ] {
            assert_eq!(value_of_type(written).as_deref(), expected, "{written}");
        }
    }

    #[test]
    fn any_text_is_read_to_its_end() {
        for written in ["(((", "a.", "<", "'", "new ", "a::<", "ä.ö()", "a[", "\\", "x\\y", ")"] {
            let _ = (chain(written), value_of_type(written));
        }
    }
}
