//! A topic to a name: the slug that a memory is called by when nobody named it.
//!
//! Not here: making it unique, and the name when nothing is left of a topic.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use crate::names::check_memory_name;

/// Names are typed, read back and shown beside every text; the rest of a long topic is no help in that.
const SLUG_BYTES_MAX: usize = 40;
/// How long names were that earlier versions made.
const EARLIER_SLUG_BYTES_MAX: usize = 60;

/// A lower-case ASCII name made of the topic, or none when nothing of it is left or it would read as an id.
pub fn slug(topic: &str) -> Option<String> {
    slug_within(topic, SLUG_BYTES_MAX)
}

fn slug_within(topic: &str, bytes_max: usize) -> Option<String> {
    let mut slug = String::with_capacity(bytes_max + 8);
    let mut pending: Option<char> = None;
    for c in topic.nfkd().filter(|&c| !is_combining_mark(c) && !is_apostrophe(c)) {
        let spelt = spelling(c);
        if spelt.is_none() && !c.is_ascii_alphanumeric() {
            pending = Some(joint(pending, c));
            continue;
        }
        if let Some(joint) = pending.take()
            && !slug.is_empty()
        {
            slug.push(joint);
        }
        match spelt {
            Some(spelt) => slug.push_str(spelt),
            None => slug.push(c.to_ascii_lowercase()),
        }
        if slug.len() > bytes_max {
            cut_at_word(&mut slug, bytes_max);
            break;
        }
    }
    check_memory_name(&slug).is_ok().then_some(slug)
}

/// Whether the name is one that a memory with this topic gets when nobody names it: the slug, or the slug and a number.
pub fn is_made_from(name: &str, topic: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    [SLUG_BYTES_MAX, EARLIER_SLUG_BYTES_MAX].into_iter().any(|bytes_max| {
        let slug = slug_within(topic, bytes_max);
        let rest = slug.as_deref().and_then(|slug| name.strip_prefix(slug));
        rest.is_some_and(|rest| rest.is_empty() || rest.strip_prefix('-').is_some_and(is_number))
    })
}

fn is_apostrophe(c: char) -> bool {
    c == '\'' || c == '\u{2019}'
}

/// What stands between two words: a single dot or underscore stays, anything else becomes a hyphen.
fn joint(before: Option<char>, c: char) -> char {
    if before.is_none() && matches!(c, '.' | '_') { c } else { '-' }
}

/// Latin letters that do not decompose into a letter and a mark.
fn spelling(c: char) -> Option<&'static str> {
    Some(match c {
        'ß' | 'ẞ' => "ss",
        'æ' | 'Æ' => "ae",
        'œ' | 'Œ' => "oe",
        'ø' | 'Ø' => "o",
        'ł' | 'Ł' => "l",
        'đ' | 'Đ' | 'ð' | 'Ð' => "d",
        'þ' | 'Þ' => "th",
        'ı' => "i",
        _ => return None,
    })
}

/// Shortens to the limit, to a word's end if that leaves at least half.
fn cut_at_word(slug: &mut String, bytes_max: usize) {
    let end = slug[..=bytes_max].rfind('-').filter(|&end| end >= bytes_max / 2).unwrap_or(bytes_max);
    slug.truncate(end);
    slug.truncate(slug.trim_end_matches(|c: char| !c.is_ascii_alphanumeric()).len());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn topics_become_readable_names() {
        let check = |topic, expected| assert_eq!(slug(topic).as_deref(), expected, "{topic}");
        check("Deploy Checklist", Some("deploy-checklist"));
        check("  Caroline's Café -- Zürich/Straße! ", Some("carolines-cafe-zurich-strasse"));
        check("Use PostgreSQL 16.2 for user_data.", Some("use-postgresql-16.2-for-user_data"));
        check("東京 👍", None);
        check("", None);
        check("...", None);
    }

    #[test]
    fn a_name_that_was_made_from_a_topic_is_known_by_it() {
        for (name, topic, expected) in [
            ("falcon-plan", "Falcon plan", true),
            ("falcon-plan-12", "Falcon plan", true),
            ("falcon-plan-", "Falcon plan", false),
            ("falcon-plan-b", "Falcon plan", false),
            ("falcon-planet", "Falcon plan", false),
            ("falcon", "Falcon plan", false),
            ("memory-0123456789abcdef", "\u{6771}\u{4eac}", false),
        ] {
            assert_eq!(is_made_from(name, topic), expected, "{name}");
        }
    }

    #[test]
    fn what_reads_as_an_id_is_no_name() {
        assert_eq!(slug("018f2f3e-9c4b-7cc1-a1f0-000000000001"), None);
        assert_eq!(slug("018F2F3E 9c4b 7cc1 a1f0 000000000001"), None);
        assert_eq!(slug("018f2f3e9c4b7cc1a1f0000000000001"), None);
    }

    #[test]
    fn long_topics_are_cut_between_words() {
        let long = slug(&"some longer words ".repeat(20)).unwrap();
        assert_eq!(long, "some-longer-words-some-longer-words-some");
        let earlier = "some-longer-words-some-longer-words-some-longer-words-some";
        assert!(is_made_from(earlier, &"some longer words ".repeat(20)), "what an earlier version made");
        assert_eq!(slug(&"x".repeat(500)).unwrap().len(), SLUG_BYTES_MAX);
    }
}
