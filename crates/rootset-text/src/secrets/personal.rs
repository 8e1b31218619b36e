//! Personal data that its check digits give away: payment cards, IBANs, US social security numbers. Only on request.

use super::Finding;
use super::checksums::{has_iban_sum, has_luhn};

pub(super) const KINDS: &[&str] = &["payment_card", "iban", "us_ssn"];

const CARD_DIGITS: std::ops::RangeInclusive<usize> = 13..=19;
/// Countries and how many characters their IBANs have, from the registry of SWIFT.
const IBAN_LENGTHS: &str = "AD24AE23AL28AT20AZ28BA20BE16BG22BH22BR29BY28CH21CR22CY28CZ24DE22DK18DO28EE20EG29ES24FI18FO18FR27\
    GB22GE22GI23GL18GR27GT28HR21HU28IE22IL23IQ23IS26IT27JO30KW30KZ20LB28LC32LI21LT20LU20LV21MC27MD24ME22MK19MR27MT31MU30NL18\
    NO15PK24PL28PS29PT25QA29RO24RS22SA24SC31SE24SI19SK24SM27ST25SV28TL23TN24TR26UA29VA22VG24XK20";
/// Digits and separators of the longest card or IBAN, each group of four apart.
const SPAN_BYTES_MAX: usize = 48;

/// What begins at `position`, where no letter or digit stands before.
pub(super) fn personal_at(bytes: &[u8], position: usize) -> Option<Finding> {
    match bytes[position] {
        b'0'..=b'9' => social_security(bytes, position).or_else(|| card(bytes, position)),
        b'A'..=b'Z' => iban(bytes, position),
        _ => None,
    }
}

/// The members of a number in groups, and where it ends. Groups are apart by one space or hyphen.
fn grouped(bytes: &[u8], position: usize, count_max: usize, is_member: impl Fn(u8) -> bool) -> (Vec<u8>, usize) {
    let mut members = Vec::new();
    let mut end = position;
    let span = &bytes[position..bytes.len().min(position + SPAN_BYTES_MAX)];
    for (index, &byte) in span.iter().enumerate() {
        if members.len() == count_max {
            break;
        }
        if is_member(byte) {
            members.push(byte);
            end = position + index + 1;
        } else if !(byte == b' ' || byte == b'-') || end != position + index {
            break;
        }
    }
    (members, end)
}

fn card(bytes: &[u8], position: usize) -> Option<Finding> {
    let (digits, end) = grouped(bytes, position, *CARD_DIGITS.end(), |byte| byte.is_ascii_digit());
    let goes_on = bytes.get(end).is_some_and(u8::is_ascii_alphanumeric);
    let is_issued = matches!(&digits[..], [b'3' | b'4' | b'5' | b'6', ..] | [b'2', b'2'..=b'7', ..]);
    let is_card = CARD_DIGITS.contains(&digits.len()) && is_issued && has_luhn(&digits) && !goes_on;
    is_card.then_some(Finding { kind: "payment_card", range: position..end })
}

fn iban(bytes: &[u8], position: usize) -> Option<Finding> {
    let head = bytes.get(position..position + 4)?;
    if !head[..2].iter().all(u8::is_ascii_uppercase) || !head[2..].iter().all(u8::is_ascii_digit) {
        return None;
    }
    let country = IBAN_LENGTHS.as_bytes().chunks(4).find(|entry| entry[..2] == head[..2])?;
    let length = usize::from(country[2] - b'0') * 10 + usize::from(country[3] - b'0');
    let (characters, end) = grouped(bytes, position, length, |byte| byte.is_ascii_uppercase() || byte.is_ascii_digit());
    let goes_on = bytes.get(end).is_some_and(u8::is_ascii_alphanumeric);
    let is_iban = characters.len() == length && has_iban_sum(&characters) && !goes_on;
    is_iban.then_some(Finding { kind: "iban", range: position..end })
}

fn social_security(bytes: &[u8], position: usize) -> Option<Finding> {
    const LENGTH: usize = 11;
    let number = bytes.get(position..position + LENGTH)?;
    let is_shaped = number.iter().enumerate().all(|(index, byte)| match index {
        3 | 6 => *byte == b'-',
        _ => byte.is_ascii_digit(),
    });
    let goes_on = bytes.get(position + LENGTH).is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'-');
    let (area, group, serial) = (&number[..3], &number[4..6], &number[7..]);
    let is_issued = area != b"000" && area != b"666" && area[0] != b'9' && group != b"00" && serial != b"0000";
    (is_shaped && is_issued && !goes_on).then_some(Finding { kind: "us_ssn", range: position..position + LENGTH })
}
