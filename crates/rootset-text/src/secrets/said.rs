//! Values that a sentence, a statement or a command gives away: `the password for the guests is …`, `IDENTIFIED BY '…'`,
//! `wandb login …`, `recovery codes: …`. Seen at the first letter of the word that tells.

use super::named::{KEY_BYTES_MIN, SIBLING_BYTES_MAX, Value, judged, word_at};
use super::names::{self, NAME_BYTES_MAX, Name, Promise};
use super::pattern::{is_token_byte, line_before, run};
use super::{Finding, judge};

/// What a word may stand in a sentence for.
const WORDS: &[&str] =
    &["password", "passphrase", "passcode", "passwort", "pwd", "token", "secret", "key", "credential"];
/// Settings and foreign words behind which the password is simply the next word.
const BARE: &[&str] = &["passwort", "kennwort", "bindpw", "rootpw", "requirepass", "masterauth", "authpass"];
const LINKS: &[&str] = &[" is now ", " is: ", " is ", " was ", " ist ", " set to ", " changed to ", " to "];
/// What links behind words that say whose it is: `password for the guest network: …`.
const LINKS_BEHIND_OWNER: &[&str] =
    &[" is now ", " is: ", " is ", " was ", " ist ", ": ", " = ", " set to ", " changed to "];
const OWNERS: &[&str] = &[" for ", " of ", " on ", " at ", " in ", " to ", " für ", " von "];
const OWNER_BYTES_MAX: usize = 48;
/// The words of a statement between `IDENTIFIED` and its `BY`.
const STATEMENT_BYTES_MAX: usize = 64;
/// Programs that take a key as a word of its own behind these words.
const COMMANDS: &[&str] = &["login", "authtoken", "add-authtoken", "auth", "setup"];
const PROGRAMS: &[&str] = &[
    "wandb ",
    "ngrok ",
    "vault ",
    "snyk ",
    "flyctl ",
    "fly ",
    "circleci ",
    "doppler ",
    "railway ",
    "pulumi ",
    "netlify ",
    "vercel ",
];
const CODES: &[&str] = &["recovery code", "backup code", "rescue code", "scratch code", "recovery key", "unlock code"];
const CODE_BYTES: std::ops::RangeInclusive<usize> = 6..=64;
const CODES_BYTES_MAX: usize = 1024;

pub(super) fn said_at(text: &str, position: usize) -> Option<Finding> {
    let bytes = text.as_bytes();
    let length =
        run(&bytes[position..bytes.len().min(position + 16)], |byte| byte.is_ascii_alphabetic() || byte == b'-');
    let word = &bytes[position..position + length];
    let after = position + length;
    let is = |one: &str| word.eq_ignore_ascii_case(one.as_bytes());
    if is("bearer") {
        return bearer_at(text, after);
    }
    if is("identified") {
        return statement_at(text, after);
    }
    if is("set") {
        return setting_at(text, after);
    }
    if is("login") || is("logins") || is("creds") || is("credentials") {
        return pair_at(text, after).or_else(|| command_at(text, position, after));
    }
    if COMMANDS.iter().any(|command| is(command)) {
        return command_at(text, position, after);
    }
    if CODES.iter().any(|code| begins(&bytes[position..], code)) {
        return codes_at(text, position);
    }
    let is_bare = BARE.iter().any(|it| is(it));
    if !is_bare && !WORDS.iter().any(|it| is(it)) {
        return None;
    }
    let is_password = is_bare || word.first().is_some_and(|byte| byte.eq_ignore_ascii_case(&b'p'));
    if is_password && is_netrc(bytes, position) {
        let gap = run(&bytes[after..], |byte| b" \t\r\n".contains(&byte));
        let value = word_at(bytes, after + gap).filter(|_| gap > 0)?;
        return judged(text, Name { promise: Promise::Password, kind: "netrc_password" }, value);
    }
    let next = &bytes[after..];
    let at_once = match next {
        [b' ', ..] if is_bare => Some(1),
        [b':', b' ', ..] if is("passphrase") => Some(2),
        _ => None,
    };
    let start = after + linked(next).or(at_once)?;
    if is("passphrase")
        && let Some(phrase) = quoted_words(text, start).or_else(|| joined_words(text, start))
    {
        return Some(phrase);
    }
    let value = word_at(bytes, start)?;
    let said = &bytes[value.start..value.end];
    let promise = if is_password { Promise::Password } else { Promise::Secret };
    // Prose is full of words with a digit or a hyphen in them.
    let is_certain =
        value.is_quoted || judge::words_percent(said) < judge::WORDS_PERCENT_MAX || judge::has_strong_mark(said);
    // Many things are called a key, and most of them are made of parts.
    let is_key = is("key");
    let is_whole = said.len() >= KEY_BYTES_MIN && said.iter().all(|byte| is_token_byte(*byte) || b"+/=".contains(byte));
    let is_certain = is_certain && (!is_key || is_whole);
    let name = Name { promise, kind: if is_password { "password" } else { "secret" } };
    judged(text, name, Value { is_literal: true, ..value }).filter(|_| is_certain)
}

fn begins(bytes: &[u8], with: &str) -> bool {
    bytes.get(..with.len()).is_some_and(|start| start.eq_ignore_ascii_case(with.as_bytes()))
}

/// How far the value is from the word: behind a link, behind an owner and a link, or at once where it is in quotes.
fn linked(rest: &[u8]) -> Option<usize> {
    if let Some(link) = LINKS.iter().find(|link| begins(rest, link)) {
        return Some(link.len());
    }
    if let [b' ', b'\'' | b'"' | b'`', ..] = rest {
        return Some(1);
    }
    OWNERS.iter().find(|owner| begins(rest, owner))?;
    let is_owner = |byte: u8| byte.is_ascii_alphanumeric() || b" '-_./".contains(&byte) || !byte.is_ascii();
    let owner = run(&rest[..rest.len().min(OWNER_BYTES_MAX)], is_owner);
    // The last link before the value: an owner may hold one of its words.
    (0..=owner).rev().find_map(|at| {
        let link = LINKS_BEHIND_OWNER.iter().find(|link| begins(&rest[at..], link))?;
        Some(at + link.len())
    })
}

fn bearer_at(text: &str, after: usize) -> Option<Finding> {
    let bytes = text.as_bytes();
    let value = word_at(bytes, after + 1).filter(|_| bytes.get(after) == Some(&b' '))?;
    let name = Name { promise: Promise::Secret, kind: "bearer_token" };
    judged(text, name, value).filter(|finding| finding.range.len() >= KEY_BYTES_MIN)
}

fn is_netrc(bytes: &[u8], position: usize) -> bool {
    let before = &bytes[position.saturating_sub(SIBLING_BYTES_MAX)..position];
    judge::holds(before, b"login ") && judge::holds(before, b"machine ") || judge::holds(before, b"default login ")
}

/// The literal in `IDENTIFIED BY '…'` and `IDENTIFIED WITH plugin BY '…'`.
fn statement_at(text: &str, after: usize) -> Option<Finding> {
    let bytes = text.as_bytes();
    let rest = &bytes[after..bytes.len().min(after + STATEMENT_BYTES_MAX)];
    let words = &rest[..run(rest, |byte| is_token_byte(byte) || byte == b' ')];
    let by = words.len().checked_sub(4).filter(|&at| words[at..].eq_ignore_ascii_case(b" by "))?;
    let value = word_at(bytes, after + by + 4).filter(|value| value.is_quoted)?;
    judged(text, Name { promise: Promise::Password, kind: "password" }, value)
}

/// `aws configure set aws_secret_access_key …`: a name and its value as two words.
fn setting_at(text: &str, after: usize) -> Option<Finding> {
    let bytes = text.as_bytes();
    let rest = bytes.get(after..)?.strip_prefix(b" ")?;
    let length = run(&rest[..rest.len().min(NAME_BYTES_MAX)], |byte| is_token_byte(byte) || byte == b'.');
    let name = names::classify(&rest[..length]).filter(|_| rest.get(length) == Some(&b' '))?;
    let value = word_at(bytes, after + 1 + length + 1)?;
    judged(text, name, value).filter(|finding| finding.range.len() >= KEY_BYTES_MIN || value.is_quoted)
}

/// `wandb login …`
fn command_at(text: &str, position: usize, after: usize) -> Option<Finding> {
    let bytes = text.as_bytes();
    let line = line_before(bytes, position);
    let value = word_at(bytes, after + 1).filter(|_| bytes.get(after) == Some(&b' '))?;
    let calls = PROGRAMS.iter().any(|program| judge::holds(line, program.as_bytes()));
    let name = Name { promise: Promise::SecretOrUuid, kind: "secret" };
    judged(text, name, value).filter(|finding| calls && finding.range.len() >= KEY_BYTES_MIN)
}

/// The password in `login: admin / …` and `credentials are admin:…`.
fn pair_at(text: &str, after: usize) -> Option<Finding> {
    let bytes = text.as_bytes();
    let gap = [": ", " is ", " are ", " = "].iter().find(|link| begins(&bytes[after..], link))?.len();
    let user = after + gap;
    let is_user = |byte: u8| is_token_byte(byte) || b".@+".contains(&byte);
    let length = run(&bytes[user..bytes.len().min(user + NAME_BYTES_MAX)], is_user);
    let between = &bytes[user + length..];
    let separator =
        [" / ", "/", ":", " | ", ", "].iter().find(|it| length > 0 && between.starts_with(it.as_bytes()))?;
    let value = word_at(bytes, user + length + separator.len())?;
    let said = &bytes[value.start..value.end];
    let is_certain = judge::words_percent(said) < judge::WORDS_PERCENT_MAX || judge::has_strong_mark(said);
    let name = Name { promise: Promise::Password, kind: "password" };
    judged(text, name, Value { is_literal: true, ..value }).filter(|_| is_certain)
}

/// A phrase of several words in quotes.
fn quoted_words(text: &str, start: usize) -> Option<Finding> {
    let bytes = text.as_bytes();
    let quote = *bytes.get(start).filter(|byte| b"\"'`".contains(byte))?;
    let rest = &bytes[start + 1..];
    let length = run(&rest[..rest.len().min(OWNER_BYTES_MAX * 2)], |byte| byte != quote && byte != b'\n');
    let phrase = &rest[..length];
    let is_phrase = rest.get(length) == Some(&quote) && phrase.iter().filter(|byte| b" -".contains(byte)).count() >= 2;
    (is_phrase && !judge::is_placeholder(phrase))
        .then_some(Finding { kind: "password", range: start + 1..start + 1 + length })
}

/// A phrase of at least four words with hyphens between them.
fn joined_words(text: &str, start: usize) -> Option<Finding> {
    let rest = &text.as_bytes()[start..];
    let length = run(&rest[..rest.len().min(OWNER_BYTES_MAX * 2)], |byte| byte.is_ascii_alphanumeric() || byte == b'-');
    let phrase = &rest[..length];
    let words = phrase.split(|byte| *byte == b'-');
    let is_phrase = words.clone().count() >= 4 && words.clone().all(|word| word.len() >= 3);
    (is_phrase && !judge::is_placeholder(phrase)).then_some(Finding { kind: "password", range: start..start + length })
}

/// One code or a list of them behind `recovery codes: …`.
fn codes_at(text: &str, position: usize) -> Option<Finding> {
    let bytes = text.as_bytes();
    let line = &bytes[position..bytes.len().min(position + OWNER_BYTES_MAX + 16)];
    let words = run(line, |byte| byte.is_ascii_alphanumeric() || b" '-()/".contains(&byte));
    let mut start = position
        + (0..=words).rev().find_map(|at| {
            let link = [":", " are ", " is "].iter().find(|link| begins(&line[at..], link))?;
            Some(at + link.len())
        })?;
    let is_gap = |byte: u8| byte.is_ascii_whitespace() || b",;*-|`\"'".contains(&byte);
    start += run(&bytes[start..bytes.len().min(start + 16)], is_gap);
    let mut end = start;
    loop {
        let limit = bytes.len().min(start + CODES_BYTES_MAX);
        let next = end + if end == start { 0 } else { run(&bytes[end.min(limit)..limit], is_gap) };
        let code = &bytes[next.min(limit)..limit];
        let code = &code[..run(code, |byte| byte.is_ascii_alphanumeric() || byte == b'-')];
        let is_code = CODE_BYTES.contains(&code.len())
            && code.iter().filter(|byte| byte.is_ascii_digit()).count() >= 2
            && !judge::is_placeholder(code);
        if !is_code {
            break;
        }
        end = next + code.len();
    }
    (end > start).then_some(Finding { kind: "recovery_code", range: start..end })
}
