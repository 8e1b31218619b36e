//! One pass over a text: at each byte, what could show itself there.

use super::blocks::{Blocks, putty_lines_at};
use super::pattern::{is_token_byte, run};
use super::{Finding, SecretScan, judge, named, personal, rules, said, urls};

/// What is found by its structure rather than by a row of a table.
pub(super) const KINDS: &[&str] =
    &["jwt", "telegram_token", "azure_client_secret", "mailchimp_key", "terraform_token", "aws_secret_key"];

const JWT_PART_BYTES_MIN: usize = 8;
/// How headers begin that name an algorithm, a type or a key.
const JWT_HEADERS: [&[u8]; 4] = [b"eyJhbGci", b"eyJ0eXAi", b"eyJlbmMi", b"eyJraWQi"];
/// As far as the secret is from the id of an AWS key.
const AWS_PAIR_BYTES_MAX: usize = 200;
/// So much of base64 in front of a token means that the token is a part of it.
const BLOB_BYTES_MIN: usize = 40;

pub(super) struct Scanner<'a> {
    text: &'a str,
    bytes: &'a [u8],
    scan: SecretScan,
    position: usize,
    /// The end of the last finding: what looks back stops here.
    floor: usize,
    blocks: Blocks,
    aws_pair_until: usize,
}

impl<'a> Scanner<'a> {
    pub(super) fn new(text: &'a str, scan: SecretScan) -> Self {
        Self { text, bytes: text.as_bytes(), scan, position: 0, floor: 0, blocks: Blocks::new(), aws_pair_until: 0 }
    }
}

impl Iterator for Scanner<'_> {
    type Item = Finding;

    fn next(&mut self) -> Option<Finding> {
        while self.position < self.bytes.len() {
            let found = self.secret_at(self.position);
            if let Some(finding) = found.filter(|it| it.range.start >= self.floor && !it.range.is_empty()) {
                self.position = finding.range.end;
                self.floor = finding.range.end;
                return Some(finding);
            }
            self.position += 1;
        }
        None
    }
}

impl Scanner<'_> {
    /// The secret that shows itself at a byte: by its first byte, or by a mark before or inside of it.
    fn secret_at(&mut self, position: usize) -> Option<Finding> {
        match self.bytes[position] {
            b'-' => self.at_hyphen(position),
            b':' => urls::password_at(self.bytes, position)
                .or_else(|| self.telegram_token(position))
                .or_else(|| urls::pgpass_at(self.bytes, position))
                .or_else(|| named::assigned_at(self.text, position)),
            b'=' => urls::signature_at(self.bytes, position).or_else(|| named::assigned_at(self.text, position)),
            b'>' | b',' | b'(' | b'|' => named::assigned_at(self.text, position),
            b'~' => self.azure_client_secret(position),
            b'.' => self.terraform_token(position),
            b'$' => named::password_hash_at(self.bytes, position),
            byte if byte.is_ascii_alphanumeric() => self.at_word(position),
            _ => None,
        }
    }

    fn at_hyphen(&mut self, position: usize) -> Option<Finding> {
        if self.bytes.get(position + 1) == Some(&b'-')
            && let Some(block) = self.blocks.block_at(self.text, position)
        {
            return Some(block);
        }
        self.mailchimp_key(position)
            .or_else(|| named::short_option_at(self.text, position))
            .or_else(|| named::option_at(self.text, position))
    }

    fn at_word(&mut self, position: usize) -> Option<Finding> {
        if !self.begins_word(position) {
            return None;
        }
        let rest = &self.bytes[position..];
        if self.scan.personal_data
            && let Some(finding) = personal::personal_at(self.bytes, position)
        {
            return Some(finding);
        }
        if let Some(finding) = self.json_web_token(position) {
            return Some(finding);
        }
        if rules::begins_with(rest[0])
            && let Some((kind, length)) = rules::token_at(rest)
            && !self.is_in_blob(position)
        {
            if kind == "aws_access_key_id" {
                self.aws_pair_until = position + length + AWS_PAIR_BYTES_MAX;
            }
            return Some(Finding { kind, range: position..position + length });
        }
        if position < self.aws_pair_until
            && let Some(finding) = self.aws_secret_key(position)
        {
            return Some(finding);
        }
        match rest[0].to_ascii_lowercase() {
            b'p' if rest.starts_with(b"Private-Lines: ") => putty_lines_at(self.text, position),
            b'a' | b'b' | b'c' | b'i' | b'k' | b'l' | b'm' | b'p' | b'r' | b's' | b't' | b'u' => {
                said::said_at(self.text, position)
            }
            _ => None,
        }
    }

    fn json_web_token(&self, position: usize) -> Option<Finding> {
        let rest = &self.bytes[position..];
        if !rest.starts_with(b"eyJ") {
            return None;
        }
        let is_header = JWT_HEADERS.iter().any(|header| rest.starts_with(header));
        let mut end = 0;
        for part in 0..3 {
            let length = run(&rest[end..], is_token_byte);
            // Claims are an object in plain sight, unless the header says that they are encrypted.
            let is_object = part == 2 || is_header || rest[end..].starts_with(b"eyJ");
            if length < JWT_PART_BYTES_MIN || !is_object || (part < 2 && rest.get(end + length) != Some(&b'.')) {
                return None;
            }
            end += length + usize::from(part < 2);
        }
        Some(Finding { kind: "jwt", range: position..position + end })
    }

    /// Forty characters near the id of a key.
    fn aws_secret_key(&self, position: usize) -> Option<Finding> {
        const LENGTH: usize = 40;
        let rest = &self.bytes[position..self.bytes.len().min(position + LENGTH + 1)];
        let length = run(rest, |byte| byte.is_ascii_alphanumeric() || byte == b'/' || byte == b'+');
        let value = &rest[..length];
        let is_mixed = value.iter().any(u8::is_ascii_uppercase) && value.iter().any(u8::is_ascii_lowercase);
        let is_key = length == LENGTH && is_mixed && judge::is_plausible(value) && judge::looks_random(value);
        is_key.then_some(Finding { kind: "aws_secret_key", range: position..position + length })
    }

    /// `123456789:AA…`, seen at the colon.
    fn telegram_token(&self, colon: usize) -> Option<Finding> {
        const BODY: std::ops::RangeInclusive<usize> = 33..=36;
        let before = &self.bytes[self.floor..colon];
        let digits = before.iter().rev().take(12).take_while(|byte| byte.is_ascii_digit()).count();
        let rest = &self.bytes[colon + 1..];
        let length = run(&rest[..rest.len().min(64)], is_token_byte);
        let is_token = (8..=11).contains(&digits) && rest.starts_with(b"AA") && BODY.contains(&length);
        let start = colon - digits;
        let is_plausible = is_token && judge::is_plausible(&rest[2..length]);
        is_plausible.then_some(Finding { kind: "telegram_token", range: start..colon + 1 + length })
    }

    /// Three characters, a digit, `Q~` and 31 to 34 more, seen at the tilde.
    fn azure_client_secret(&self, tilde: usize) -> Option<Finding> {
        const HEAD: usize = 5;
        const TAIL: std::ops::RangeInclusive<usize> = 31..=35;
        let is_member = |byte: u8| byte.is_ascii_alphanumeric() || b"_~.-".contains(&byte);
        let start = tilde.checked_sub(HEAD)?;
        let head = &self.bytes[start..tilde];
        let is_head = head[4] == b'Q' && head[3].is_ascii_digit() && head[..3].iter().all(|&byte| is_member(byte));
        let rest = &self.bytes[tilde + 1..];
        let length = run(&rest[..rest.len().min(64)], is_member);
        let is_start = start == 0 || !is_member(self.bytes[start - 1]);
        let is_secret = is_head && is_start && TAIL.contains(&length) && judge::is_plausible(&rest[..length]);
        is_secret.then_some(Finding { kind: "azure_client_secret", range: start..tilde + 1 + length })
    }

    /// Thirty-two hexadecimal digits and `-us12`, seen at the hyphen.
    fn mailchimp_key(&self, hyphen: usize) -> Option<Finding> {
        const DIGITS: usize = 32;
        let start = hyphen.checked_sub(DIGITS)?;
        let rest = self.bytes[hyphen..].strip_prefix(b"-us")?;
        let center = run(&rest[..rest.len().min(4)], |byte| byte.is_ascii_digit());
        let digits = &self.bytes[start..hyphen];
        let is_key = (1..=2).contains(&center)
            && digits.iter().all(u8::is_ascii_hexdigit)
            && (start == 0 || !is_token_byte(self.bytes[start - 1]))
            && judge::is_plausible(digits);
        is_key.then_some(Finding { kind: "mailchimp_key", range: start..hyphen + 3 + center })
    }

    /// Fourteen characters, `.atlasv1.` and sixty or more, seen at the first dot.
    fn terraform_token(&self, dot: usize) -> Option<Finding> {
        const HEAD: usize = 14;
        let rest = self.bytes[dot..].strip_prefix(b".atlasv1.")?;
        let start = dot.checked_sub(HEAD)?;
        let length = run(&rest[..rest.len().min(128)], |byte| is_token_byte(byte) || byte == b'=');
        let is_token = length >= 60 && self.bytes[start..dot].iter().all(u8::is_ascii_alphanumeric);
        is_token.then_some(Finding { kind: "terraform_token", range: start..dot + 9 + length })
    }

    /// A token begins here and not earlier: behind an escaped line break or an encoded mark, too.
    fn begins_word(&self, position: usize) -> bool {
        let Some(before) = position.checked_sub(1).map(|index| self.bytes[index]) else { return true };
        if !is_token_byte(before) {
            return true;
        }
        let two_before = position.checked_sub(2).map(|index| self.bytes[index]);
        let three_before = position.checked_sub(3).map(|index| self.bytes[index]);
        let is_escaped = matches!(before, b'n' | b't' | b'r') && two_before == Some(b'\\');
        let is_encoded = three_before == Some(b'%')
            && before.is_ascii_hexdigit()
            && two_before.is_some_and(|byte| byte.is_ascii_hexdigit());
        is_escaped || is_encoded
    }

    /// Whether a token is a part of something longer in base64, as a picture is.
    fn is_in_blob(&self, position: usize) -> bool {
        let is_joined = position.checked_sub(1).is_some_and(|index| b"+/".contains(&self.bytes[index]));
        let before = &self.bytes[position.saturating_sub(BLOB_BYTES_MIN)..position];
        let is_base64 = |byte: &u8| byte.is_ascii_alphanumeric() || b"+/".contains(byte);
        is_joined && before.len() == BLOB_BYTES_MIN && before.iter().all(is_base64)
    }
}
