//! Whether a value was drawn at random, typed as a password, or stands for something else.

/// What people write where a secret belongs. Compared without case.
const PLACEHOLDERS: &[&str] = &[
    "example",
    "placeholder",
    "changeme",
    "change-me",
    "change_me",
    "changeit",
    "replaceme",
    "replace-me",
    "replace_me",
    "replace-with",
    "replace_with",
    "redacted",
    "dummy",
    "sample",
    "your-",
    "your_",
    "yourapi",
    "yourkey",
    "yourtoken",
    "yoursecret",
    "yourpassword",
    "my-secret",
    "my_secret",
    "mysecret",
    "my-password",
    "my_password",
    "mypassword",
    "my-token",
    "my_token",
    "mytoken",
    "my-api-key",
    "my_api_key",
    "myapikey",
    "insert-",
    "insert_",
    "-here",
    "_here",
    "xxxx",
    "****",
    "....",
    "not-a-real",
    "not_a_real",
    "notreal",
    "foobar",
    // The key of Azure's storage emulator, the same for everybody.
    "eby8vdm02xnocqfl",
];

/// Whether a value only shows where a secret goes.
pub(super) fn is_placeholder(value: &[u8]) -> bool {
    let lower: Vec<u8> = value.iter().map(u8::to_ascii_lowercase).collect();
    is_monotonous(value) || PLACEHOLDERS.iter().any(|word| holds(&lower, word.as_bytes()))
}

pub(super) fn holds(value: &[u8], word: &[u8]) -> bool {
    value.windows(word.len()).any(|window| window == word)
}

/// One or two characters over and over, or one walk along the alphabet.
fn is_monotonous(value: &[u8]) -> bool {
    let distinct = distinct(value);
    let steps = value.windows(2).filter(|pair| pair[1] == pair[0].wrapping_add(1) || pair[1] == pair[0]).count();
    distinct <= 2 || (distinct <= 4 && value.len() >= 12) || steps + 1 >= value.len()
}

/// The body of a token whose prefix already says what it is: anything that nobody would print as a placeholder.
pub(super) fn is_plausible(body: &[u8]) -> bool {
    !is_placeholder(body) && distinct(body) * 4 >= body.len().min(24)
}

/// The body of a token whose prefix also begins words: letters and digits mixed, and a run of them that no word has.
pub(super) fn is_plausible_without_prefix(body: &[u8]) -> bool {
    let longest = body.split(|byte| !byte.is_ascii_alphanumeric()).map(<[u8]>::len).max().unwrap_or(0);
    is_plausible(body) && longest >= 12 && looks_random(body)
}

/// Letters and digits mixed, few of them twice, and not words in a row: what nobody would type as a name.
pub(super) fn looks_random(value: &[u8]) -> bool {
    let digits = count(value, |byte| byte.is_ascii_digit());
    let letters = count(value, |byte| byte.is_ascii_alphabetic());
    let is_mixed = digits >= 2 && letters >= 2 || is_of_both_cases_at_random(value);
    is_mixed && distinct(value) >= 8 && words_percent(value) < WORDS_PERCENT_MAX
}

/// Of names made of words, at least this many letters in a hundred are in words; of random letters, about thirty-five.
pub(super) const WORDS_PERCENT_MAX: usize = 65;

/// Letters of both cases, changing more often than in any camel.
fn is_of_both_cases_at_random(value: &[u8]) -> bool {
    let turns = value.windows(2).filter(|pair| pair[0].is_ascii_uppercase() != pair[1].is_ascii_uppercase()).count();
    value.len() >= 16 && turns * 3 >= value.len()
}

/// A password as somebody types one: of several kinds of characters.
pub(super) fn looks_typed(value: &[u8]) -> bool {
    let digits = count(value, |byte| byte.is_ascii_digit());
    let letters = count(value, |byte| byte.is_ascii_alphabetic());
    let marks = value.len() - digits - letters;
    let has_two_kinds = (digits > 0) as usize + (letters > 0) as usize + (marks > 0) as usize >= 2;
    // Letters alone are a password if nobody could say them.
    let is_unspeakable = letters == value.len() && letters >= 12 && words_percent(value) == 0;
    let is_typed = has_two_kinds && (digits > 0 || has_strong_mark(value)) || looks_random(value) || is_unspeakable;
    is_typed && distinct(value) >= 4
}

/// Marks that no path, name or number is written with.
pub(super) fn has_strong_mark(value: &[u8]) -> bool {
    value.iter().any(|byte| b"!@#$%^&*?~+=".contains(byte))
}

/// Of letters and digits, the share of those in pronounceable words, in percent. Numbers of their own say nothing: names have
/// them as well.
pub(super) fn words_percent(value: &[u8]) -> usize {
    let segments = value.split(|byte| !byte.is_ascii_alphanumeric());
    let (mut in_words, mut all) = (0, 0);
    for segment in segments.filter(|segment| !segment.iter().all(u8::is_ascii_digit)) {
        all += segment.len();
        in_words += letters_in_words(segment);
    }
    in_words * 100 / all.max(1)
}

/// Letters in words of three or more; of two, if the segment is nothing else.
fn letters_in_words(segment: &[u8]) -> usize {
    let mut in_words = 0;
    let mut start = 0;
    while start < segment.len() {
        if !segment[start].is_ascii_alphabetic() {
            start += 1;
            continue;
        }
        // A word is lower case, upper case, or lower case after one upper-case letter.
        let capitals = super::pattern::run(&segment[start..], |byte| byte.is_ascii_uppercase());
        let length = match capitals {
            0 | 1 => capitals + super::pattern::run(&segment[start + capitals..], |byte| byte.is_ascii_lowercase()),
            capitals => capitals,
        };
        let is_long_enough = length >= 3 || length == 2 && segment.len() == 2;
        if is_long_enough && is_pronounceable(&segment[start..start + length]) {
            in_words += length;
        }
        start += length;
    }
    in_words
}

fn is_pronounceable(word: &[u8]) -> bool {
    let is_vowel = |byte: &u8| b"aeiouy".contains(&byte.to_ascii_lowercase());
    let vowels = word.iter().filter(|byte| is_vowel(byte)).count();
    let longest =
        |is_member: &dyn Fn(&u8) -> bool| word.split(|byte| !is_member(byte)).map(<[u8]>::len).max().unwrap_or(0);
    vowels > 0 && longest(&|byte| !is_vowel(byte)) <= 4 && longest(&is_vowel) <= 3
}

pub(super) fn is_uuid(value: &[u8]) -> bool {
    value.len() == 36
        && value.iter().enumerate().all(|(index, byte)| match index {
            8 | 13 | 18 | 23 => *byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

pub(super) fn distinct(value: &[u8]) -> usize {
    let mut seen = [false; 256];
    value.iter().for_each(|byte| seen[usize::from(*byte)] = true);
    count(&seen, |seen| *seen)
}

fn count<T>(values: &[T], is_member: impl Fn(&T) -> bool) -> usize {
    values.iter().filter(|value| is_member(value)).count()
}
