//! Values that look like secrets, taken out before a text is stored.
//!
//! Conservative: a value goes when its own shape gives it away (`ghp_…`, a PEM block) or when its name does and it
//! looks random (`api_key: …`). Prose, UUIDs, hashes and paths stay. Invariant: redacting twice redacts nothing more.
//! Not here: telling the caller, and secrets that look like words.

use std::borrow::Cow;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redacted<'a> {
    pub text: Cow<'a, str>,
    /// Values replaced.
    pub count: usize,
}

/// A token that its prefix gives away.
struct Shape {
    prefix: &'static str,
    kind: &'static str,
    /// Bytes of the body after the prefix: at least this many; exactly this many if `exact`.
    body_min: usize,
    exact: bool,
    /// The body needs this much disorder beyond its length: prefixes that words begin with, too.
    must_look_random: bool,
}

const fn shape(prefix: &'static str, kind: &'static str, body_min: usize) -> Shape {
    Shape { prefix, kind, body_min, exact: false, must_look_random: false }
}

/// One line to add one.
const SHAPES: &[Shape] = &[
    Shape { exact: true, ..shape("AKIA", "aws_key", 16) },
    Shape { exact: true, ..shape("ASIA", "aws_key", 16) },
    shape("AIza", "google_key", 30),
    shape("ghp_", "github_token", 20),
    shape("gho_", "github_token", 20),
    shape("ghs_", "github_token", 20),
    shape("ghu_", "github_token", 20),
    shape("ghr_", "github_token", 20),
    shape("github_pat_", "github_token", 20),
    shape("glpat-", "gitlab_token", 16),
    Shape { must_look_random: true, ..shape("npm_", "npm_token", 30) },
    Shape { must_look_random: true, ..shape("rk_live_", "stripe_key", 16) },
    Shape { must_look_random: true, ..shape("sk_live_", "stripe_key", 16) },
    Shape { must_look_random: true, ..shape("sk-", "api_key", 20) },
    shape("xoxa-", "slack_token", 10),
    shape("xoxb-", "slack_token", 10),
    shape("xoxp-", "slack_token", 10),
    shape("xoxr-", "slack_token", 10),
    shape("xoxs-", "slack_token", 10),
];

/// Names whose value is a secret, compared without case, hyphens and underscores, at the end of a longer name.
const SECRET_NAMES: &[&str] = &[
    "accesskey",
    "apikey",
    "authkey",
    "passphrase",
    "password",
    "passwd",
    "privatekey",
    "pwd",
    "secret",
    "secretkey",
    "token",
];

/// Shorter values are as likely a word or a version.
const ASSIGNED_BYTES_MIN: usize = 12;
/// A name this long in front of a value is no name.
const NAME_BYTES_MAX: usize = 64;
const AUTHORITY_BYTES_MAX: usize = 512;
const JWT_PART_BYTES_MIN: usize = 8;

const PEM_BEGIN: &str = "-----BEGIN ";
const PEM_END: &str = "-----END ";
const PEM_LABEL_END: &str = "PRIVATE KEY-----";
const PEM_LABEL_BYTES_MAX: usize = 40;
/// What a replaced value looks like, and is recognised by.
const MARK: &str = "[redacted:";

/// Replaces every value that looks like a secret by `[redacted:<kind>]`.
pub fn redact(text: &str) -> Redacted<'_> {
    redact_with(text, |_| 0)
}

/// The same, leaving every line break where it was: what is said about lines stays true.
pub fn redact_keeping_lines(text: &str) -> Redacted<'_> {
    redact_with(text, |value| value.bytes().filter(|&byte| byte == b'\n').count())
}

fn redact_with(text: &str, line_breaks_kept: impl Fn(&str) -> usize) -> Redacted<'_> {
    let mut scanner = Scanner { text, bytes: text.as_bytes(), pem_end_from: Some(0) };
    let mut redacted = String::new();
    let mut copied = 0;
    let mut count = 0;
    let mut position = 0;
    while position < text.len() {
        let Some(found) = scanner.secret_at(position) else {
            position += 1;
            continue;
        };
        redacted.push_str(&text[copied..found.start]);
        redacted.push_str(MARK);
        redacted.push_str(found.kind);
        redacted.push(']');
        redacted.extend(std::iter::repeat_n('\n', line_breaks_kept(&text[found.start..found.end])));
        copied = found.end;
        position = found.end;
        count += 1;
    }
    if count == 0 {
        return Redacted { text: Cow::Borrowed(text), count };
    }
    redacted.push_str(&text[copied..]);
    Redacted { text: Cow::Owned(redacted), count }
}

/// Ends are ASCII bytes' ends, hence between characters.
struct Found {
    kind: &'static str,
    start: usize,
    end: usize,
}

struct Scanner<'a> {
    text: &'a str,
    bytes: &'a [u8],
    /// Where an end of a PEM block may still be found; none when there is no further one, so that a text full of
    /// beginnings is not searched again for each.
    pem_end_from: Option<usize>,
}

impl Scanner<'_> {
    /// The secret that shows itself at a byte: by its first byte, or by the mark between a name and its value.
    fn secret_at(&mut self, position: usize) -> Option<Found> {
        match self.bytes[position] {
            b'-' => self.pem_block(position),
            b'A' | b'g' | b'n' | b'r' | b's' | b'x' => self.shaped(position),
            b'e' => self.json_web_token(position),
            b'=' => self.assigned(position),
            b':' => self.url_password(position).or_else(|| self.assigned(position)),
            _ => None,
        }
    }

    fn shaped(&self, position: usize) -> Option<Found> {
        let rest = &self.bytes[position..];
        let shape = SHAPES.iter().find(|shape| rest.starts_with(shape.prefix.as_bytes()))?;
        if !self.begins_token(position) {
            return None;
        }
        let body = &rest[shape.prefix.len()..];
        let length = run(body, is_token_byte);
        let is_long_enough = if shape.exact { length == shape.body_min } else { length >= shape.body_min };
        let body = &body[..length];
        let is_plausible = match (shape.exact, shape.must_look_random) {
            (true, _) => body.iter().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit()),
            (_, true) => looks_random(body) && longest_alphanumeric(body) >= 16,
            _ => true,
        };
        let end = position + shape.prefix.len() + length;
        (is_long_enough && is_plausible).then_some(Found { kind: shape.kind, start: position, end })
    }

    fn json_web_token(&self, position: usize) -> Option<Found> {
        let rest = &self.bytes[position..];
        if !rest.starts_with(b"eyJ") || !self.begins_token(position) {
            return None;
        }
        let mut end = 0;
        for part in 0..3 {
            let length = run(&rest[end..], is_token_byte);
            let is_object = part == 2 || rest[end..].starts_with(b"eyJ");
            if length < JWT_PART_BYTES_MIN || !is_object || (part < 2 && rest.get(end + length) != Some(&b'.')) {
                return None;
            }
            end += length + usize::from(part < 2);
        }
        Some(Found { kind: "jwt", start: position, end: position + end })
    }

    fn pem_block(&mut self, position: usize) -> Option<Found> {
        let rest = self.text.get(position..)?;
        let label = rest.strip_prefix(PEM_BEGIN)?;
        let label_end = crate::chars::cut_bytes(label, PEM_LABEL_BYTES_MAX).find(PEM_LABEL_END)?;
        if !label[..label_end].bytes().all(|byte| byte.is_ascii_uppercase() || byte == b' ') {
            return None;
        }
        let body = position + PEM_BEGIN.len() + label_end + PEM_LABEL_END.len();
        let end = self.pem_end(body).unwrap_or_else(|| {
            // Cut off in the middle: whatever still looks like the key.
            body + run(&self.bytes[body..], |byte| is_token_byte(byte) || b"+/=\r\n \\".contains(&byte))
        });
        let end = body + self.text[body..end].trim_end().len();
        Some(Found { kind: "private_key", start: position, end })
    }

    /// The end of the PEM block that is open at `from`.
    fn pem_end(&mut self, from: usize) -> Option<usize> {
        let mut search = self.pem_end_from?.max(from);
        loop {
            let Some(found) = self.text[search..].find(PEM_END) else {
                self.pem_end_from = None;
                return None;
            };
            let label = search + found + PEM_END.len();
            let label_text = crate::chars::cut_bytes(&self.text[label..], PEM_LABEL_BYTES_MAX);
            if let Some(label_end) = label_text.find(PEM_LABEL_END) {
                self.pem_end_from = Some(search);
                return Some(label + label_end + PEM_LABEL_END.len());
            }
            search = label;
        }
    }

    /// The value behind `name =` or `"name": "`, when the name says that it is secret and the value looks random.
    fn assigned(&self, mark: usize) -> Option<Found> {
        if !is_secret_name(self.name_before(mark)) {
            return None;
        }
        let mut start = mark + 1;
        start += run(&self.bytes[start..], |byte| b" \t>\"'`".contains(&byte));
        let scheme: &[u8] = b"bearer ";
        if self.bytes[start..].get(..scheme.len()).is_some_and(|it| it.eq_ignore_ascii_case(scheme)) {
            start += scheme.len();
        }
        let length = run(&self.bytes[start..], is_value_byte);
        let padding = run(&self.bytes[start + length..], |byte| byte == b'=').min(2);
        let value = &self.bytes[start..start + length];
        // A reference, a path, a call or an address is where a secret is kept, not the secret.
        let is_elsewhere = value.starts_with(b"$")
            || value.starts_with(b"/")
            || value.starts_with(b"./")
            || value.starts_with(b"~")
            || matches!(self.bytes.get(start + length), Some(b'(' | b':' | b'[' | b'{'));
        if length < ASSIGNED_BYTES_MIN || is_elsewhere || !looks_random(value) || is_uuid(value) {
            return None;
        }
        // A shape says more about the kind than the name does, and is found when its own first byte is read.
        if self.shaped(start).is_some() || self.json_web_token(start).is_some() {
            return None;
        }
        Some(Found { kind: "secret", start, end: start + length + padding })
    }

    fn name_before(&self, mark: usize) -> &[u8] {
        let before = &self.bytes[mark.saturating_sub(NAME_BYTES_MAX)..mark];
        let before =
            &before[..before.len() - before.iter().rev().take_while(|byte| b" \t\"'`:".contains(byte)).count()];
        let is_name = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'_' || **byte == b'-';
        &before[before.len() - before.iter().rev().take_while(is_name).count()..]
    }

    /// The password in `scheme://user:password@host`.
    fn url_password(&self, colon: usize) -> Option<Found> {
        let authority = colon + 3;
        if !self.bytes[colon..].starts_with(b"://") || colon == 0 || !self.bytes[colon - 1].is_ascii_alphanumeric() {
            return None;
        }
        let rest = &self.bytes[authority..self.bytes.len().min(authority + AUTHORITY_BYTES_MAX)];
        let rest = &rest[..run(rest, |byte| !byte.is_ascii_whitespace() && !b"/?#\"'`<>".contains(&byte))];
        let at = rest.iter().rposition(|byte| *byte == b'@')?;
        let user = rest[..at].iter().position(|byte| *byte == b':')?;
        let password = &rest[user + 1..at];
        let is_placeholder = password.is_empty()
            || password.windows(MARK.len()).any(|window| window == MARK.as_bytes())
            || b"$<{*".contains(&password[0])
            || password.iter().all(|byte| *byte == b'*' || *byte == b'x');
        (!is_placeholder).then_some(Found { kind: "url_password", start: authority + user + 1, end: authority + at })
    }

    /// A token begins here and not earlier.
    fn begins_token(&self, position: usize) -> bool {
        position == 0 || !is_token_byte(self.bytes[position - 1])
    }
}

fn is_secret_name(name: &[u8]) -> bool {
    let letters: Vec<u8> =
        name.iter().filter(|byte| byte.is_ascii_alphanumeric()).map(u8::to_ascii_lowercase).collect();
    SECRET_NAMES.iter().any(|secret| letters.ends_with(secret.as_bytes()))
}

fn is_token_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-'
}

fn is_value_byte(byte: u8) -> bool {
    is_token_byte(byte) || b"+/.!@#$%^&*~".contains(&byte)
}

/// Letters and digits mixed, few of them twice: what nobody would type as a word.
fn looks_random(value: &[u8]) -> bool {
    let digits = value.iter().filter(|byte| byte.is_ascii_digit()).count();
    let letters = value.iter().filter(|byte| byte.is_ascii_alphabetic()).count();
    let mut seen = [false; 256];
    value.iter().for_each(|byte| seen[usize::from(*byte)] = true);
    let distinct = seen.iter().filter(|seen| **seen).count();
    digits >= 2 && letters >= 2 && distinct >= 8
}

fn longest_alphanumeric(value: &[u8]) -> usize {
    value.split(|byte| !byte.is_ascii_alphanumeric()).map(<[u8]>::len).max().unwrap_or(0)
}

fn is_uuid(value: &[u8]) -> bool {
    value.len() == 36
        && value.iter().enumerate().all(|(index, byte)| match index {
            8 | 13 | 18 | 23 => *byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

/// How many bytes from the start are of a kind.
fn run(bytes: &[u8], is_member: impl Fn(u8) -> bool) -> usize {
    bytes.iter().take_while(|byte| is_member(**byte)).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        let redacted = redact(text);
        assert_eq!(redacted.text, expected);
        assert_eq!(redact(&redacted.text).count, 0, "{expected}");
    }

    #[test]
    fn tokens_are_known_by_their_shape() {
        let body = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8";
        for (prefix, kind) in [
            ("ghp_", "github_token"),
            ("github_pat_", "github_token"),
            ("glpat-", "gitlab_token"),
            ("xoxb-", "slack_token"),
            ("sk-", "api_key"),
            ("sk-ant-api03-", "api_key"),
            ("AIza", "google_key"),
            ("sk_live_", "stripe_key"),
            ("npm_", "npm_token"),
        ] {
            check(&format!("use {prefix}{body}, ok"), &format!("use [redacted:{kind}], ok"));
        }
        check("key AKIAIOSFODNN7EXAMPLE.", "key [redacted:aws_key].");
        check("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abcDEF123_-xyz!", "[redacted:jwt]!");
    }

    #[test]
    fn private_keys_go_with_all_their_lines() {
        let key = "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\nIBAAK\n-----END RSA PRIVATE KEY-----";
        check(&format!("before\n{key}\nafter"), "before\n[redacted:private_key]\nafter");
        check("-----BEGIN PRIVATE KEY-----\nMIIEow\nIBAAK\n", "[redacted:private_key]\n");
        let public = "-----BEGIN PUBLIC KEY-----\nMIIEow\n-----END PUBLIC KEY-----";
        check(public, public);
    }

    #[test]
    fn lines_after_a_private_key_keep_their_numbers_on_request() {
        let text = format!("a\n{PEM_BEGIN}{PEM_LABEL_END}\nAAAA\nBBBB\n{PEM_END}{PEM_LABEL_END}\nlast");
        let redacted = redact_keeping_lines(&text);
        assert_eq!(redacted.count, 1);
        assert!(!redacted.text.contains("AAAA"), "{}", redacted.text);
        assert_eq!(redacted.text.lines().count(), text.lines().count());
        assert_eq!(redacted.text.lines().last(), Some("last"));
    }

    #[test]
    fn named_values_go_when_they_look_random() {
        check("DB_PASSWORD=hunter2hunter9x!", "DB_PASSWORD=[redacted:secret]");
        check(r#"{"api_key": "0123456789abcdef0123"}"#, r#"{"api_key": "[redacted:secret]"}"#);
        check("client-secret: 'q9W8e7R6t5Y4=='", "client-secret: '[redacted:secret]'");
        check("token = ghp_a1B2c3D4e5F6g7H8i9J0k1", "token = [redacted:github_token]");
        check("postgres://app:s3cr3t@db/x", "postgres://app:[redacted:url_password]@db/x");
    }

    #[test]
    fn ordinary_text_is_borrowed() {
        for text in [
            "The password is reset by the token service; secret: authentication",
            "id 018f2f3e-9c4b-7cc1-a1f0-000000000001, commit 57b3e5eb8be710e0256141a60e5a0d24c9443e36",
            "token: 018f2f3e-9c4b-7cc1-a1f0-000000000001",
            "secret: /etc/keys/a1b2c3d4e5.pem and password=${DB_PASSWORD_12345}",
            "token = next_token_v12(parser34)",
            "sk-learn-is-a-library-for-machine-learning eyJ task-force",
            "http://localhost:8080/path@x and https://user@host",
            "postgres://app:***@db",
            "crates/rootset-text/src/secrets.rs",
        ] {
            assert!(matches!(redact(text), Redacted { text: Cow::Borrowed(_), count: 0 }), "{text}");
        }
    }
}
