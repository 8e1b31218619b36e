//! Sums by which a value shows that it is what it looks like.

/// GitHub's and npm's tokens end with six digits of base62: the CRC32 of the thirty before them.
pub(super) fn has_crc32_in_base62(body: &[u8]) -> bool {
    const SUM_DIGITS: usize = 6;
    let Some(split) = body.len().checked_sub(SUM_DIGITS) else { return false };
    let (random, sum) = body.split_at(split);
    base62(sum) == Some(u64::from(crc32(random)))
}

fn base62(digits: &[u8]) -> Option<u64> {
    digits.iter().try_fold(0_u64, |sum, digit| {
        let value = match digit {
            b'0'..=b'9' => digit - b'0',
            b'A'..=b'Z' => digit - b'A' + 10,
            b'a'..=b'z' => digit - b'a' + 36,
            _ => return None,
        };
        Some(sum * 62 + u64::from(value))
    })
}

fn crc32(bytes: &[u8]) -> u32 {
    const POLYNOMIAL: u32 = 0xEDB8_8320;
    let mut sum = u32::MAX;
    for byte in bytes {
        sum ^= u32::from(*byte);
        for _ in 0..8 {
            sum = (sum >> 1) ^ (POLYNOMIAL & (sum & 1).wrapping_neg());
        }
    }
    !sum
}

/// The check digit of payment cards.
pub(super) fn has_luhn(digits: &[u8]) -> bool {
    let sum: u32 = digits
        .iter()
        .rev()
        .enumerate()
        .map(|(place, digit)| {
            let digit = u32::from(digit - b'0');
            match place % 2 {
                0 => digit,
                _ if digit > 4 => digit * 2 - 9,
                _ => digit * 2,
            }
        })
        .sum();
    sum.is_multiple_of(10)
}

/// ISO 7064: the first four characters last, letters as 10 to 35, and the whole number leaves 1.
pub(super) fn has_iban_sum(characters: &[u8]) -> bool {
    let (head, tail) = characters.split_at(4.min(characters.len()));
    let rest = tail.iter().chain(head).fold(0_u32, |rest, character| match character {
        b'0'..=b'9' => (rest * 10 + u32::from(character - b'0')) % 97,
        letter => (rest * 100 + u32::from(letter - b'A') + 10) % 97,
    });
    rest == 1
}

/// Whether base64 of either alphabet says `user:password`, as headers and registries write it.
pub(super) fn is_base64_of_credentials(encoded: &[u8]) -> bool {
    let mut decoded: Vec<u8> = Vec::with_capacity(encoded.len() * 3 / 4);
    let (mut bits, mut count) = (0_u32, 0);
    for byte in encoded.iter().filter(|byte| **byte != b'=') {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => return false,
        };
        bits = bits << 6 | u32::from(value);
        count += 6;
        if count >= 8 {
            count -= 8;
            decoded.push((bits >> count) as u8);
        }
    }
    let colon = decoded.iter().position(|byte| *byte == b':');
    let is_printable = decoded.iter().all(|byte| (0x20..0x7f).contains(byte));
    is_printable && colon.is_some_and(|colon| decoded.len() > colon + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_those_of_the_standards() {
        assert_eq!(crc32(b"123456789"), 0xCBF4_3926);
        assert!(has_luhn(b"79927398713") && !has_luhn(b"79927398710"));
        assert!(has_iban_sum(b"GB82WEST12345698765432") && !has_iban_sum(b"GB82WEST12345698765433"));
        assert!(is_base64_of_credentials(b"dXNlcjpwYXNz") && !is_base64_of_credentials(b"dXNlcnBhc3M="));
    }

    #[test]
    fn a_token_of_github_ends_with_the_sum_of_the_rest() {
        let random = b"abcdefghijklmnopqrstuvwxyz0123";
        let mut sum = u64::from(crc32(random));
        let mut digits = [b'0'; 6];
        for digit in digits.iter_mut().rev() {
            *digit = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"[(sum % 62) as usize];
            sum /= 62;
        }
        assert!(has_crc32_in_base62(&[random.as_slice(), &digits].concat()));
        digits[5] ^= 1;
        assert!(!has_crc32_in_base62(&[random.as_slice(), &digits].concat()));
    }
}
