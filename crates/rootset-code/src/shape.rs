//! What a Go method takes and gives, read from its signature: types that implement an interface do not name it. Not here: which
//! methods are compared.

/// The types of a Go method's parameters and what follows them, without packages; `None` where that takes a parser.
pub fn method_shape(signature: &str, name: &str) -> Option<(Vec<String>, String)> {
    let at = signature.find(&format!("{name}("))? + name.len() + 1;
    let inside = &signature[at..];
    let (parameters, rest) = inside.split_once(')')?;
    let result = rest.trim().trim_end_matches('{').trim();
    if parameters.contains(['(', '{']) || result.contains(['{', ' ']) {
        return None;
    }
    let parts: Vec<&str> = parameters.split(',').map(str::trim).filter(|part| !part.is_empty()).collect();
    let are_named = parts.iter().any(|part| part.contains(' '));
    let mut types: Vec<String> = Vec::new();
    for part in parts.iter().rev() {
        let of_next = types.last().cloned();
        let written = match part.split_once(' ') {
            Some((_, of)) => of.trim(),
            // `a, b int`
            None if are_named => {
                types.push(of_next?);
                continue;
            }
            None => part,
        };
        types.push(without_package(written));
    }
    types.reverse();
    Some((types, without_package(result)))
}

/// `*caddy.Replacer` is `*Replacer` in its own package.
fn without_package(written: &str) -> String {
    let marks = written.len() - written.trim_start_matches(['*', '[', ']', '.']).len();
    let (marks, name) = written.split_at(marks);
    format!("{marks}{}", name.rsplit('.').next().unwrap_or(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_are_compared_by_the_types_that_they_take_and_give() {
        let of = |signature: &str| method_shape(signature, "Match");
        assert_eq!(of("func (m Host) Match(hello *tls.ClientHelloInfo) bool"), of("Match(*ClientHelloInfo) bool"));
        assert_eq!(of("Match(a, b int, c string)"), of("func (x *X) Match(int, int, string) {"));
        assert_ne!(of("Match(a string) bool"), of("Match(a int) bool"));
        assert_ne!(of("Match(a int) bool"), of("Match(a int)"));
        assert_eq!(of("Match(f func(int) bool) error"), None);
        assert_eq!(of("func Other()"), None);
    }
}
