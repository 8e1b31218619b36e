//! Secrets that their place in an address gives away: `scheme://user:password@host`, and signatures in queries.

use super::pattern::{line_before, run};
use super::{Finding, MARK, judge};

pub(super) const KINDS: &[&str] = &["url_password", "azure_sas_signature", "pgpass_password"];

const AUTHORITY_BYTES_MAX: usize = 512;
/// As far as a signature is from the parameters that it signs.
const QUERY_BYTES_MAX: usize = 512;
const SIGNATURE_BYTES: std::ops::RangeInclusive<usize> = 43..=64;

/// What documentation writes in place of a password.
const SHOWN: &[&str] = &["password", "pass", "passwd", "pwd", "pw", "secret", "token", "key", "apikey", "api_key"];

/// The password in `scheme://user:password@host`, seen at its first colon.
pub(super) fn password_at(bytes: &[u8], colon: usize) -> Option<Finding> {
    if !bytes[colon..].starts_with(b"://") || colon == 0 || !bytes[colon - 1].is_ascii_alphanumeric() {
        return None;
    }
    let authority = colon + 3;
    let rest = &bytes[authority..bytes.len().min(authority + AUTHORITY_BYTES_MAX)];
    let rest = &rest[..run(rest, |byte| !byte.is_ascii_whitespace() && !b"\"'`<>".contains(&byte))];
    // A password may hold any of these, but then nothing in front of the last `@` is a host with a port and a path.
    let plain = &rest[..run(rest, |byte| !b"/?#".contains(&byte))];
    let at = plain.iter().rposition(|byte| *byte == b'@')?;
    let user = plain[..at].iter().position(|byte| *byte == b':')?;
    let password = &plain[user + 1..at];
    let is_shown = password.is_empty()
        || judge::holds(password, MARK.as_bytes())
        || b"$<{*[%".contains(&password[0]) && !is_percent_encoded(password)
        || password == &plain[..user]
        || SHOWN.iter().any(|word| password.eq_ignore_ascii_case(word.as_bytes()))
        || judge::is_placeholder(password);
    let range = authority + user + 1..authority + at;
    (!is_shown).then_some(Finding { kind: "url_password", range })
}

fn is_percent_encoded(password: &[u8]) -> bool {
    password[0] == b'%' && password.len() > 3 && password[1..3].iter().all(u8::is_ascii_hexdigit)
}

/// The value of `sig=` in a shared access signature, seen at its `=`.
pub(super) fn signature_at(bytes: &[u8], mark: usize) -> Option<Finding> {
    let name = mark.checked_sub(4).map(|start| &bytes[start..mark])?;
    if &name[1..] != b"sig" || !matches!(name[0], b'&' | b'?' | b';') {
        return None;
    }
    let start = mark + 1;
    let is_member = |byte: u8| byte.is_ascii_alphanumeric() || b"%+/=-_".contains(&byte);
    let length = run(&bytes[start..bytes.len().min(start + 128)], is_member);
    let around = &bytes[start.saturating_sub(QUERY_BYTES_MAX)..bytes.len().min(start + length + QUERY_BYTES_MAX)];
    let is_signed = [&b"se="[..], b"sv=", b"sr="].iter().any(|parameter| judge::holds(around, parameter));
    let is_signature = SIGNATURE_BYTES.contains(&length) && judge::is_plausible(&bytes[start..start + length]);
    (is_signed && is_signature).then_some(Finding { kind: "azure_sas_signature", range: start..start + length })
}

/// The password in a line `host:5432:database:user:password`, seen at the first colon.
pub(super) fn pgpass_at(bytes: &[u8], colon: usize) -> Option<Finding> {
    const PASSWORD_BYTES: std::ops::RangeInclusive<usize> = 6..=128;
    let port = &bytes[colon + 1..bytes.len().min(colon + 7)];
    let is_any = port.first() == Some(&b'*');
    let digits = run(port, |byte| byte.is_ascii_digit());
    let length = if is_any { 1 } else { digits };
    if !is_any && !(4..=5).contains(&length) || port.get(length) != Some(&b':') {
        return None;
    }
    let line = line_before(bytes, colon);
    let is_host = !line.is_empty() && line.iter().all(|byte| byte.is_ascii_alphanumeric() || b".-_*".contains(byte));
    let mut start = colon + 1 + length + 1;
    for _ in 0..2 {
        let field = run(&bytes[start..bytes.len().min(start + 64)], |byte| byte.is_ascii_graphic() && byte != b':');
        if field == 0 || bytes.get(start + field) != Some(&b':') {
            return None;
        }
        start += field + 1;
    }
    let length = run(&bytes[start..bytes.len().min(start + 256)], |byte| byte.is_ascii_graphic());
    let password = &bytes[start..start + length];
    let is_shown =
        SHOWN.iter().any(|word| password.eq_ignore_ascii_case(word.as_bytes())) || judge::is_placeholder(password);
    let is_password = is_host && PASSWORD_BYTES.contains(&length) && !is_shown && !password.contains(&b':');
    is_password.then_some(Finding { kind: "pgpass_password", range: start..start + length })
}
