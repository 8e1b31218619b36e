//! Values that their name gives away: `api_key = …`, `"password": "…"`, `--token …`, `the password is …`.
//!
//! What stands between a name and its value differs by format; what the value must look like depends on what the name
//! promises, and on whether it is a literal for certain (in quotes, or in an environment file) or may be code.

use super::names::{self, NAME_BYTES_MAX, Name, Promise};
use super::pattern::{is_token_byte, line_before, run};
use super::{Finding, MARK, checksums, judge, rules};

pub(super) const KINDS: &[&str] = &[
    "password",
    "secret",
    "bearer_token",
    "basic_auth",
    "netrc_password",
    "password_hash",
    "jwk_private_key",
    "app_password",
    "azure_function_key",
    "session_cookie",
    "recovery_code",
];

/// Shorter values are as likely a word or a version.
const RANDOM_BYTES_MIN: usize = 12;
/// Many harmless things are called a key; longer ones are rarely chosen by people.
pub(super) const KEY_BYTES_MIN: usize = 20;
const PASSWORD_BYTES_MIN: usize = 6;
/// A longer value is a text or a file. It also bounds what a text full of names costs.
const VALUE_BYTES_MAX: usize = 1024;
/// So much of a value tells whether it is random.
const JUDGED_BYTES_MAX: usize = 128;
/// How far `value:` may be from its `name:`.
pub(super) const SIBLING_BYTES_MAX: usize = 160;
const SEED_WORDS: [usize; 5] = [12, 15, 18, 21, 24];

/// Schemes in front of what a header carries.
const SCHEMES: &[&str] = &[
    "bearer ",
    "token ",
    "apikey ",
    "api-key ",
    "bot ",
    "splunk ",
    "genie-key ",
    "geniekey ",
    "ssws ",
    "key ",
    "sso-key ",
];

/// A value behind a name, and how sure it is that it is a literal.
#[derive(Clone, Copy)]
pub(super) struct Value {
    pub start: usize,
    pub end: usize,
    pub is_literal: bool,
    pub is_quoted: bool,
}

/// The secret behind the mark at `mark`: `=`, `:`, `>`, `,`, `(` or, in a table, `|`.
pub(super) fn assigned_at(text: &str, mark: usize) -> Option<Finding> {
    let bytes = text.as_bytes();
    let raw = match bytes[mark] {
        b'>' => element_before(bytes, mark)?,
        b'(' => called_before(bytes, mark)?,
        b',' => quoted_before(bytes, mark)?,
        b'|' if !is_between_cells(bytes, mark) => return None,
        _ => name_before(bytes, mark),
    };
    let name = name_of(bytes, mark, raw)?;
    let value = value_after(bytes, mark, raw)?;
    judged(text, name, value)
}

/// The secret behind `--password `, `-storepass ` or another option whose value is the next word.
pub(super) fn option_at(text: &str, hyphen: usize) -> Option<Finding> {
    let bytes = text.as_bytes();
    let is_start = hyphen == 0 || bytes[hyphen - 1].is_ascii_whitespace() || b"\"'`[(,".contains(&bytes[hyphen - 1]);
    if !is_start {
        return None;
    }
    let start = hyphen + run(&bytes[hyphen..bytes.len().min(hyphen + 2)], |byte| byte == b'-');
    let length = run(&bytes[start..bytes.len().min(start + NAME_BYTES_MAX)], is_token_byte);
    let gap = run(&bytes[start + length..], |byte| b" \t\"',".contains(&byte));
    let is_apart = gap > 0 && bytes.get(start + length) != Some(&b'=');
    let name = names::classify(&bytes[start..start + length]).filter(|_| is_apart)?;
    let first = start + length + gap;
    if bytes.get(first) == Some(&b'-') {
        return None;
    }
    let value = word_at(bytes, first)?;
    judged(text, name, value)
}

/// The password in `-u user:password`, `-pPassword` and `-a password`, where the line calls a program that takes one so.
pub(super) fn short_option_at(text: &str, hyphen: usize) -> Option<Finding> {
    let bytes = text.as_bytes();
    let letter = *bytes.get(hyphen + 1)?;
    if !b"upaw".contains(&letter) || hyphen == 0 || !bytes[hyphen - 1].is_ascii_whitespace() {
        return None;
    }
    let line = line_before(bytes, hyphen);
    let calls = |programs: &[&str]| programs.iter().any(|program| judge::holds(line, program.as_bytes()));
    let gap = run(&bytes[hyphen + 2..], |byte| byte == b' ');
    let value = word_at(bytes, hyphen + 2 + gap)?;
    let name = Name { promise: Promise::Password, kind: "password" };
    match letter {
        b'u' if gap > 0 && calls(&["curl", "wget", "http"]) => {
            let colon = bytes[value.start..value.end].iter().position(|byte| *byte == b':')?;
            let is_same = bytes[value.start..value.start + colon] == bytes[value.start + colon + 1..value.end];
            judged(text, name, Value { start: value.start + colon + 1, ..value }).filter(|_| !is_same)
        }
        b'p' if gap == 0 && calls(&["mysql", "mariadb", "7z"]) => judged(text, name, value),
        b'p' if gap > 0 && calls(&["sshpass", "docker login", "podman login", "helm registry", "az login"]) => {
            judged(text, name, value)
        }
        b'a' if gap > 0 && calls(&["redis-cli"]) => judged(text, name, value),
        b'w' if gap > 0 && calls(&["ldapsearch", "ldapmodify", "ldapadd"]) => judged(text, name, value),
        _ => None,
    }
}

/// `user:$2y$…` as password files have it, seen at the first dollar.
pub(super) fn password_hash_at(bytes: &[u8], dollar: usize) -> Option<Finding> {
    const SCHEMES: &[&str] = &["$2y$", "$2b$", "$2a$", "$apr1$", "$6$", "$5$", "$1$", "$y$", "$argon2"];
    let user = dollar.checked_sub(2).map(|before| bytes[before])?;
    let is_line = bytes[dollar - 1] == b':' && (is_token_byte(user) || user == b'.');
    let has_scheme = SCHEMES.iter().any(|scheme| bytes[dollar..].starts_with(scheme.as_bytes()));
    let is_member = |byte: u8| byte.is_ascii_alphanumeric() || b"./$=,+".contains(&byte);
    let length = run(&bytes[dollar..bytes.len().min(dollar + VALUE_BYTES_MAX)], is_member);
    (is_line && has_scheme && length >= 20).then_some(Finding { kind: "password_hash", range: dollar..dollar + length })
}

/// What the value of a field is, by the field's name; the value is a literal.
pub(super) fn field_kind(name: &str, value: &str) -> Option<&'static str> {
    let name = names::classify(name.as_bytes())?;
    let trimmed = value.trim();
    let range = Value { start: 0, end: trimmed.len(), is_literal: true, is_quoted: true };
    judged(trimmed, name, range).map(|finding| finding.kind)
}

/// The name, or that of the sibling where the name is `value`, or that of the variable where it is a type.
fn name_of(bytes: &[u8], mark: usize, raw: &[u8]) -> Option<Name> {
    if let Some(name) = names::classify(raw) {
        return Some(name);
    }
    if raw.eq_ignore_ascii_case(b"value") || raw == b"default" || raw == b"defaultValue" {
        return names::classify(sibling_before(bytes, mark)?);
    }
    let before = &bytes[mark.saturating_sub(NAME_BYTES_MAX)..mark];
    if bytes[mark] == b'=' && (raw == b"d" || raw == b"k") {
        return None;
    }
    let line = line_before(bytes, mark);
    if raw == b"code" && judge::holds(line, b"azurewebsites.net") {
        return Some(Name { promise: Promise::Secret, kind: "azure_function_key" });
    }
    if bytes[mark] == b'=' && judge::holds(line, b"ookie: ") && !is_of_statistics(raw) {
        // What a site calls its session is its own affair; what else is drawn at random so long is one as well.
        let promise = if is_session(raw) { Promise::Secret } else { Promise::Key };
        return Some(Name { promise, kind: "session_cookie" });
    }
    if (raw == b"d" || raw == b"k") && judge::holds(around(bytes, mark), b"\"kty\"") {
        return Some(Name { promise: Promise::Secret, kind: "jwk_private_key" });
    }
    // `password: &str = "…"`
    let colon = before.iter().rposition(|byte| *byte == b':').filter(|_| bytes[mark] == b'=')?;
    let is_type = before[colon + 1..].iter().all(|byte| byte.is_ascii_alphanumeric() || b" &'<>[]|?_".contains(byte));
    let colon = mark - (before.len() - colon);
    if !is_type { None } else { names::classify(name_before(bytes, colon)) }
}

fn is_session(name: &[u8]) -> bool {
    let lower: Vec<u8> = name.iter().map(u8::to_ascii_lowercase).collect();
    judge::holds(&lower, b"sess") || lower.ends_with(b"sid") || lower.ends_with(b"auth")
}

/// Cookies that count visitors, and attributes of cookies.
fn is_of_statistics(name: &[u8]) -> bool {
    const BEGINNINGS: &[&str] =
        &["_ga", "_gid", "_gcl", "_fb", "_hj", "_pk", "_utm", "__utm", "amp_", "ajs_", "mp_", "optimizely"];
    BEGINNINGS.iter().any(|beginning| name.starts_with(beginning.as_bytes()))
}

fn around(bytes: &[u8], position: usize) -> &[u8] {
    const REACH: usize = 1024;
    &bytes[position.saturating_sub(REACH)..bytes.len().min(position + REACH)]
}

/// The name in front of `=` or `:`, without the quotes and spaces between.
fn name_before(bytes: &[u8], mark: usize) -> &[u8] {
    let before = &bytes[mark.saturating_sub(NAME_BYTES_MAX + 8)..mark];
    let gap = before.iter().rev().take_while(|byte| b" \t\"'`:\\?+".contains(byte)).count();
    let before = &before[..before.len() - gap];
    let before = before.strip_suffix(b"\"]").or(before.strip_suffix(b"']")).unwrap_or(before);
    let name = last_name(before);
    let is_half = [&b"key"[..], b"phrase"].iter().any(|word| name.eq_ignore_ascii_case(word))
        || !name.is_empty() && name.iter().all(u8::is_ascii_digit);
    if !is_half {
        return name;
    }
    // `API key: …`, `Unseal Key 1: …`: the words before say which one.
    let mut start = before.len() - name.len();
    for _ in 0..2 {
        let rest = before[..start].strip_suffix(b" ").unwrap_or_default();
        start -= if rest.is_empty() { 0 } else { last_name(rest).len() + 1 };
    }
    &before[start..]
}

fn last_name(before: &[u8]) -> &[u8] {
    let is_name = |byte: &&u8| is_token_byte(**byte) || **byte == b'.';
    let name = &before[before.len() - before.iter().rev().take_while(is_name).count()..];
    &name[name.iter().rposition(|byte| *byte == b'.').map_or(0, |dot| dot + 1)..]
}

/// The name of the element that `>` opens: `<password>`.
fn element_before(bytes: &[u8], mark: usize) -> Option<&[u8]> {
    let before = &bytes[mark.saturating_sub(NAME_BYTES_MAX)..mark];
    let name = last_name(before);
    let open = before.len().checked_sub(name.len() + 1).map(|index| before[index]);
    (open == Some(b'<') && !name.is_empty()).then_some(name)
}

/// The function that is called with a literal: `.password("…")`.
fn called_before(bytes: &[u8], mark: usize) -> Option<&[u8]> {
    let name = last_name(&bytes[mark.saturating_sub(NAME_BYTES_MAX)..mark]);
    matches!(bytes.get(mark + 1), Some(b'"' | b'\'')).then_some(name)
}

/// The literal in front of a comma, where another one follows: `set("api_key", "…")`.
fn quoted_before(bytes: &[u8], mark: usize) -> Option<&[u8]> {
    let quote = *bytes.get(mark.checked_sub(1)?)?;
    let next = mark + 1 + run(&bytes[mark + 1..], |byte| byte == b' ');
    let is_pair = matches!(quote, b'"' | b'\'') && bytes.get(next) == Some(&quote);
    is_pair.then(|| last_name(&bytes[mark.saturating_sub(NAME_BYTES_MAX)..mark - 1]))
}

/// `| database password | … |`: between the two cells of a row of a table, so that a shell's pipe is none.
fn is_between_cells(bytes: &[u8], mark: usize) -> bool {
    let line = line_before(bytes, mark).trim_ascii_start();
    let rest = &bytes[mark + 1..bytes.len().min(mark + 1 + VALUE_BYTES_MAX)];
    let cell = &rest[..run(rest, |byte| byte != b'|' && byte != b'\n')];
    line.starts_with(b"|") && rest.get(cell.len()) == Some(&b'|') && !cell.trim_ascii().contains(&b' ')
}

/// The name that stands in front of `value`: `- name: DB_PASSWORD`, `key="Password"`, `variable "db_password"`.
fn sibling_before(bytes: &[u8], mark: usize) -> Option<&[u8]> {
    let before = &bytes[mark.saturating_sub(SIBLING_BYTES_MAX)..mark];
    let start = [&b"name"[..], b"Name", b"key", b"Key", b"variable"].into_iter().filter_map(|word| {
        let at = before.windows(word.len()).rposition(|window| window == word)?;
        Some(at + word.len())
    });
    let start = start.max()?;
    let gap = run(&before[start..], |byte| b" \t\"'=:\\".contains(&byte));
    let name = &before[start + gap..];
    (gap > 0).then(|| &name[..run(name, is_token_byte)])
}

/// The value behind a mark.
fn value_after(bytes: &[u8], mark: usize, raw: &[u8]) -> Option<Value> {
    let mut start = mark + 1;
    start += run(&bytes[start..bytes.len().min(start + 32)], |byte| b" \t>=".contains(&byte));
    if bytes[mark] == b':' && matches!(bytes.get(start), Some(b'|' | b'>')) {
        // The text of a YAML block is on the next line.
        start += run(&bytes[start..], |byte| b"|>-+".contains(&byte));
        start += run(&bytes[start..bytes.len().min(start + 64)], |byte| b" \r\n".contains(&byte));
    }
    let scheme = |start: usize| {
        let says = |scheme: &&&str| {
            bytes.get(start..start + scheme.len()).is_some_and(|it| it.eq_ignore_ascii_case(scheme.as_bytes()))
        };
        SCHEMES.iter().find(says).map_or(0, |scheme| scheme.len())
    };
    start += scheme(start);
    let mut value = word_at(bytes, start)?;
    value.start += scheme(value.start).min(value.end - value.start);
    if !value.is_quoted {
        let is_query = bytes.get(mark.wrapping_sub(raw.len() + 1)).is_some_and(|byte| b"?&".contains(byte));
        let is_environment = bytes[mark] == b'='
            && !raw.iter().any(u8::is_ascii_lowercase)
            && bytes.get(mark + 1).is_some_and(|byte| !byte.is_ascii_whitespace());
        if is_query {
            value.end = value.start + run(&bytes[value.start..value.end], |byte| byte != b'&' && byte != b'#');
        }
        let is_joined = bytes[mark] == b'='
            && bytes.get(mark + 1).is_some_and(|byte| !byte.is_ascii_whitespace())
            && mark.checked_sub(1).is_some_and(|before| !bytes[before].is_ascii_whitespace())
            && bytes.get(value.end).is_none_or(|next| next.is_ascii_whitespace() || b";\"'&".contains(next))
            && !bytes[value.start..value.end].iter().any(|byte| b"_.".contains(byte));
        let is_option = raw.starts_with(b"--");
        value.is_literal = is_query || is_environment || is_joined || is_option || b">|".contains(&bytes[mark]);
    }
    Some(value)
}

/// The quoted text or the word at a place.
pub(super) fn word_at(bytes: &[u8], mut start: usize) -> Option<Value> {
    let limit = bytes.len().min(start + VALUE_BYTES_MAX);
    let is_escaped = bytes.get(start) == Some(&b'\\') && matches!(bytes.get(start + 1), Some(b'"' | b'\''));
    start += usize::from(is_escaped);
    // `b"…"`, `r'…'` and `f"…"` are literals, too.
    if matches!(bytes.get(start), Some(b'b' | b'r' | b'f' | b'u')) && matches!(bytes.get(start + 1), Some(b'"' | b'\''))
    {
        start += 1;
    }
    match bytes.get(start)? {
        &quote @ (b'"' | b'\'' | b'`') => {
            start += 1;
            start += run(&bytes[start.min(limit)..limit], |byte| byte == quote).min(2);
            let rest = bytes.get(start..limit)?;
            let length = run(rest, |byte| byte != quote && byte != b'\n' && byte != b'\\');
            let is_closed = rest.get(length).is_some_and(|byte| *byte == quote || *byte == b'\\');
            let is_quoted = is_closed && !rest[..length].contains(&b' ');
            Some(Value { start, end: start + length, is_literal: true, is_quoted })
        }
        _ => {
            let is_member = |byte: u8| byte.is_ascii_graphic() && !b"\"'`<>,;)]}\\".contains(&byte);
            let length = run(bytes.get(start..limit)?, is_member);
            let word = &bytes[start..start + length];
            let trailing = word.iter().rev().take_while(|byte| b".:".contains(byte)).count();
            Some(Value { start, end: start + length - trailing, is_literal: false, is_quoted: false })
        }
    }
}

/// Whether a value keeps what its name promises.
pub(super) fn judged(text: &str, name: Name, value: Value) -> Option<Finding> {
    let bytes = text.as_bytes();
    let mut found = &bytes[value.start..value.end];
    if name.promise == Promise::Words {
        return seed_phrase(text, value);
    }
    if found.len() > 6 && found[..6].eq_ignore_ascii_case(b"basic ") {
        found = &found[6..];
    }
    let start = value.end - found.len();
    let basic = |start: usize| {
        let word = &bytes[start..start + run(&bytes[start..], |byte| is_token_byte(byte) || b"+/=".contains(&byte))];
        (word.len() >= 8 && checksums::is_base64_of_credentials(word))
            .then_some(Finding { kind: "basic_auth", range: start..start + word.len() })
    };
    if found.eq_ignore_ascii_case(b"basic") && bytes.get(value.end) == Some(&b' ') {
        return basic(value.end + 1);
    }
    if start != value.start || name.promise == Promise::Credentials {
        return basic(start);
    }
    if name.promise == Promise::Password
        && let Some(length) = app_password(&bytes[value.start..])
    {
        return Some(Finding { kind: "app_password", range: value.start..value.start + length });
    }
    let next = bytes.get(value.end);
    if found.is_empty() || found.len() >= VALUE_BYTES_MAX || is_elsewhere(found, next, value.is_quoted) {
        return None;
    }
    let whole = found;
    let found = &whole[..whole.len().min(JUDGED_BYTES_MAX)];
    // A shape says more about the kind than the name does, and is found when its own first byte is read.
    if rules::token_at(whole).is_some() || is_jwt(whole) {
        return None;
    }
    let is_uuid = judge::is_uuid(found);
    let is_secret = match name.promise {
        Promise::Password => is_password(found, &value, is_uuid, ends_line(next)),
        Promise::Secret => found.len() >= RANDOM_BYTES_MIN && !is_uuid && is_random(found, &value),
        Promise::SecretOrUuid => found.len() >= RANDOM_BYTES_MIN && (is_uuid || is_random(found, &value)),
        Promise::Key => found.len() >= KEY_BYTES_MIN && !is_uuid && is_random(found, &value) && !found.contains(&b'/'),
        Promise::Credentials | Promise::Words => false,
    };
    let padding = run(&bytes[value.end..], |byte| byte == b'=').min(2);
    let end = if value.is_quoted { value.end } else { value.end + padding };
    (is_secret && !judge::is_placeholder(found)).then_some(Finding { kind: name.kind, range: value.start..end })
}

/// Four groups of four small letters, as Google and Apple give out.
fn app_password(bytes: &[u8]) -> Option<usize> {
    const LENGTH: usize = 19;
    let password = bytes.get(..LENGTH)?;
    let separator = password[4];
    let is_shaped = (separator == b' ' || separator == b'-')
        && password.iter().enumerate().all(|(index, byte)| match index % 5 {
            4 => *byte == separator,
            _ => byte.is_ascii_lowercase(),
        });
    let goes_on = bytes.get(LENGTH).is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == separator);
    (is_shaped && !goes_on && judge::words_percent(password) < judge::WORDS_PERCENT_MAX).then_some(LENGTH)
}

/// In quotes, a machine may have drawn any mark; a few more of them make up for spaces.
fn is_random(value: &[u8], place: &Value) -> bool {
    let is_written = value.iter().all(|byte| is_token_byte(*byte) || b"+/.=!@#$%^&*~?:|".contains(byte));
    let marks = value.iter().filter(|byte| byte.is_ascii_punctuation()).count();
    let is_marked = place.is_literal && value.len() >= 32 && marks >= 4 && judge::distinct(value) >= 20;
    (is_written || is_marked || place.is_quoted && !value.contains(&b' ')) && judge::looks_random(value)
}

fn ends_line(next: Option<&u8>) -> bool {
    next.is_none_or(|byte| *byte == b'\n' || *byte == b'\r')
}

/// Words with a number in them that are not passwords.
const SCHEMES_OF_HASHES: &[&str] =
    &["sha1", "sha256", "sha512", "md5", "base64", "argon2", "argon2id", "pbkdf2", "oauth2", "bcrypt2"];

fn is_password(value: &[u8], place: &Value, is_uuid: bool, ends_line: bool) -> bool {
    if value.len() < PASSWORD_BYTES_MIN || value.contains(&b' ') || is_uuid && !place.is_literal {
        return false;
    }
    if place.is_literal {
        let is_number = value.iter().all(u8::is_ascii_digit) && value.len() >= 8;
        return is_number || judge::looks_typed(value);
    }
    if SCHEMES_OF_HASHES.iter().any(|word| value.eq_ignore_ascii_case(word.as_bytes())) {
        return false;
    }
    // Alone on its line it is a setting, not code.
    let is_plain = value.iter().all(u8::is_ascii_alphanumeric) && value.iter().any(u8::is_ascii_digit);
    if ends_line && is_plain && value.iter().any(u8::is_ascii_alphabetic) {
        return true;
    }
    // It may be code: a name, a number, a call.
    judge::looks_typed(value)
        && (judge::has_strong_mark(value) || judge::words_percent(value) < judge::WORDS_PERCENT_MAX)
        && (value.len() >= RANDOM_BYTES_MIN
            || value.iter().any(|byte| !is_token_byte(*byte) && *byte != b'.')
            || value.iter().filter(|byte| byte.is_ascii_digit()).count() >= 2)
}

/// A reference, a path, a call or an address is where a secret is kept, not the secret.
fn is_elsewhere(value: &[u8], next: Option<&u8>, is_quoted: bool) -> bool {
    const BEGINNINGS: &[&str] = &[
        "$",
        "{",
        "<",
        "/",
        "./",
        "../",
        "~/",
        "%(",
        "(",
        "[",
        "&",
        "@{",
        "!",
        "arn:",
        "op://",
        "vault:",
        "ssm:",
        "sm://",
        "env(",
        "env.",
        "process.env",
        "os.environ",
        "os.getenv",
        "config.",
        "settings.",
        "secrets.",
        "self.",
        "this.",
        "args.",
        "var.",
        "local.",
        "data.",
        "module.",
        "http://",
        "https://",
        "file:",
        "ENC[",
        "s3://",
        "gs://",
        "sha256:",
        "sha512-",
        "sha1:",
        "sha256-",
        "sha384-",
        "ssh-rsa",
        "ssh-ed25519",
    ];
    let is_call = !is_quoted && matches!(next, Some(b'(' | b'[' | b'{'));
    let begins = |beginning: &&str| value.starts_with(beginning.as_bytes());
    let is_code = !is_quoted && (judge::holds(value, b"(") || judge::holds(value, b"::") || judge::holds(value, b"->"));
    // A password may begin with a mark, if more follows than a name.
    let is_marked = is_quoted
        && value.len() > 1
        && b"$!&".contains(&value[0])
        && !value[1..].iter().all(|byte| is_token_byte(*byte))
        && value[1] != b'{'
        && value[1] != b'(';
    let is_template = judge::holds(value, b"${") || judge::holds(value, b"{{") || judge::holds(value, MARK.as_bytes());
    let is_variable = value[0] == b'%' && value[value.len() - 1] == b'%';
    is_call || is_code || is_template || is_variable || (BEGINNINGS.iter().any(begins) && !is_marked)
}

fn is_jwt(value: &[u8]) -> bool {
    value.starts_with(b"eyJ") && value.iter().filter(|byte| **byte == b'.').count() == 2
}

/// A phrase of as many small words as wallets use.
fn seed_phrase(text: &str, value: Value) -> Option<Finding> {
    const PHRASE_BYTES_MAX: usize = 24 * 9;
    let rest = crate::chars::cut_bytes(&text[value.start..], PHRASE_BYTES_MAX);
    let length = run(rest.as_bytes(), |byte| byte.is_ascii_lowercase() || byte == b' ');
    let phrase = rest[..length].trim_end();
    let words: Vec<&str> = phrase.split(' ').collect();
    let is_phrase = SEED_WORDS.contains(&words.len()) && words.iter().all(|word| (3..=8).contains(&word.len()));
    is_phrase.then_some(Finding { kind: "seed_phrase", range: value.start..value.start + phrase.len() })
}
