//! The form of a piece, to the type of the entity it names.
//!
//! Only forms that give themselves away. Whether a capitalised word is a name depends on where it stands, see
//! `mentions`.

use crate::chars::is_word;
use crate::scan::{Kind, Piece, runs};

pub(super) const NAME: &str = "name";
pub(super) const TERM: &str = "term";
const IDENTIFIER: &str = "identifier";
const PATH: &str = "path";
const URL: &str = "url";
const EMAIL: &str = "email";
const VERSION: &str = "version";
const ISSUE: &str = "issue";

/// Names in camel case that are no identifiers of somebody's program. Names that end in an acronym need no line here.
#[rustfmt::skip]
const CAMEL_NAMES: &[&str] = &[
    "BitBucket", "ChatGPT", "CircleCI", "ClickHouse", "CloudFlare", "CloudFront", "DeepMind", "DeepSeek",
    "DigitalOcean", "DuckDuckGo", "FaceTime", "FedEx", "GitHub", "GitLab", "HuggingFace", "IntelliJ", "JavaScript",
    "LangChain", "LinkedIn", "LlamaIndex", "MacBook", "MasterCard", "PayPal", "PowerPoint", "PowerShell", "PyCharm",
    "PyTorch", "RabbitMQ", "SendGrid", "SharePoint", "SoundCloud", "SpaceX", "StackOverflow", "TensorFlow", "TikTok",
    "TypeScript", "WebAssembly", "WebSocket", "WhatsApp", "WordPress", "YouTube", "eBay", "iCloud", "iOS", "iPad",
    "iPhone", "macOS",
];

/// Shaped like keys of issues, and none.
const NO_ISSUES: &[&str] =
    &["AES", "COVID", "GPT", "HTTP", "IPV", "ISO", "MD", "RFC", "RSA", "SHA", "TLS", "USB", "UTF"];
const ISSUE_KEY_BYTES: std::ops::RangeInclusive<usize> = 2..=10;

#[rustfmt::skip]
const FILE_EXTENSIONS: &[&str] = &[
    "bash", "c", "cfg", "conf", "cpp", "cs", "css", "csv", "db", "docx", "env", "gif", "go", "h", "hpp", "html", "ini",
    "ipynb", "java", "jpg", "js", "json", "jsonl", "jsx", "kt", "lock", "log", "md", "mjs", "pdf", "php", "png",
    "proto", "py", "rb", "rs", "scala", "sh", "sql", "sqlite", "svg", "swift", "tf", "toml", "ts", "tsx", "txt", "vue",
    "xlsx", "xml", "yaml", "yml", "zip",
];

/// What a name of something that runs ends in: `auth-service`.
const RUNNING: &[&str] = &[
    "api",
    "app",
    "backend",
    "bot",
    "bucket",
    "cli",
    "client",
    "cluster",
    "controller",
    "daemon",
    "db",
    "frontend",
    "gateway",
    "lib",
    "operator",
    "pipeline",
    "proxy",
    "queue",
    "repo",
    "sdk",
    "server",
    "service",
    "ui",
    "worker",
];

/// And what such an ending also stands behind without a name.
const NO_NAMES: &[&str] = &[
    "client", "command", "cross", "full", "in", "inter", "multi", "non", "open", "per", "self", "single", "sub",
    "third", "web",
];

const DOMAINS: &[&str] = &["ai", "app", "com", "de", "dev", "edu", "eu", "gov", "io", "net", "org", "uk"];

/// The type of a piece that names something by its form alone; none for words, names and numbers.
pub(super) fn type_of(text: &str, piece: &Piece) -> Option<&'static str> {
    let written = piece.of(text);
    match piece.kind {
        Kind::Url => Some(URL),
        Kind::Email => Some(EMAIL),
        Kind::Snake => Some(IDENTIFIER),
        Kind::Language => Some(NAME),
        Kind::Version => Some(if is_ip_address(written) { IDENTIFIER } else { VERSION }),
        Kind::Issue => is_issue_key(written).then_some(ISSUE),
        // `20KiB` is a quantity.
        Kind::Camel if written.starts_with(|c: char| c.is_ascii_digit()) => None,
        Kind::Camel => (!is_camel_name(written)).then_some(IDENTIFIER),
        Kind::Path => path_type(written),
        Kind::Dotted if is_measure(written) => None,
        Kind::Dotted => dotted_type(written),
        Kind::Compound => is_running(written).then_some(IDENTIFIER),
        Kind::Word | Kind::Lone | Kind::Number => None,
    }
}

/// A word that a capital makes part of a name, as far as its form goes.
pub(super) fn is_capitalised(text: &str, piece: &Piece) -> bool {
    let written = piece.of(text);
    match piece.kind {
        Kind::Word => written.starts_with(char::is_uppercase),
        Kind::Camel => is_camel_name(written),
        Kind::Issue | Kind::Compound => {
            type_of(text, piece).is_none()
                && written.starts_with(char::is_uppercase)
                && runs(written).skip(1).any(|run| run.starts_with(|c: char| c.is_uppercase() || c.is_ascii_digit()))
        }
        _ => false,
    }
}

/// `5.92x`, `6.577s`: a number with what it counts.
fn is_measure(written: &str) -> bool {
    let number = written.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    written.len() - number.len() <= UNIT_LETTERS_MAX
        && !number.is_empty()
        && number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
}

/// `GiB`.
const UNIT_LETTERS_MAX: usize = 3;

/// Whether what is set as code names one thing, and is no command, pattern or expression.
pub(super) fn names_one(code: &str) -> bool {
    let is_plain = |word: &str| word.chars().all(|c| c.is_alphanumeric() || "-_.:@/".contains(c));
    let letters = code.chars().filter(|c| c.is_alphabetic()).count();
    let is_option = code.starts_with("--") && !code.contains(' ');
    letters >= CODE_LETTERS_MIN
        && code.split(' ').count() <= CODE_WORDS_MAX
        && code.split(' ').all(|word| is_plain(word) && (is_option || !word.starts_with(['-', '/'])))
}

/// `dark mode`; more words are a command.
const CODE_WORDS_MAX: usize = 2;
/// `-p`, `ok`, `x`: every text has them.
const CODE_LETTERS_MIN: usize = 3;

fn is_camel_name(written: &str) -> bool {
    let ends_in_acronym =
        written.starts_with(char::is_uppercase) && written.bytes().rev().take(2).all(|b| b.is_ascii_uppercase());
    ends_in_acronym
        || ["Mc", "Mac"].iter().any(|it| written.starts_with(it))
        || CAMEL_NAMES.binary_search(&written).is_ok()
}

fn is_running(written: &str) -> bool {
    let is_plain = written.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-');
    let ends = written.split_once('-').zip(written.rsplit_once('-'));
    is_plain
        && ends.is_some_and(|((first, _), (_, last))| {
            RUNNING.binary_search(&last).is_ok() && NO_NAMES.binary_search(&first).is_err()
        })
}

fn is_ip_address(written: &str) -> bool {
    written.split('.').count() == 4 && written.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
}

fn is_issue_key(written: &str) -> bool {
    let Some((key, _)) = written.split_once('-') else { return false };
    ISSUE_KEY_BYTES.contains(&key.len())
        && key.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit())
        && !NO_ISSUES.contains(&key)
}

/// Slashes also stand for `or`: a path needs something that words do not have.
fn path_type(written: &str) -> Option<&'static str> {
    if written.starts_with("www.") {
        return Some(URL);
    }
    let parts = || written.split(['/', '\\']).filter(|part| part.contains(is_word));
    let count = parts().count();
    if parts().all(|part| part.bytes().all(|byte| byte.is_ascii_uppercase())) {
        return (count > 1).then_some(NAME);
    }
    if !parts().any(|part| part.contains(char::is_alphabetic)) {
        return None;
    }
    // `-P/--pcre2` are two options.
    if written.contains("/-") {
        return None;
    }
    let is_rooted = written.starts_with(['/', '~', '.']) && count > 1;
    let has_extension = parts().next_back().is_some_and(|last| last.contains('.'));
    let is_technical =
        parts().any(|part| part.contains(['.', '_', '-']) || part.contains(|c: char| c.is_ascii_digit()));
    (is_rooted || has_extension || (count > 1 && is_technical)).then_some(PATH)
}

fn dotted_type(written: &str) -> Option<&'static str> {
    if written.contains("::") {
        return Some(IDENTIFIER);
    }
    let (stem, last) = written.rsplit_once('.')?;
    // `e.g`, `U.S`, `a.m`: abbreviations.
    if written.split('.').all(|part| part.chars().count() == 1) {
        return None;
    }
    let last_folded = last.to_ascii_lowercase();
    if FILE_EXTENSIONS.binary_search(&last_folded.as_str()).is_ok() {
        let is_framework = last == "js" && stem.starts_with(char::is_uppercase);
        return Some(if is_framework { NAME } else { PATH });
    }
    if DOMAINS.contains(&last) {
        return Some(URL);
    }
    // `done.Then`: a blank was forgotten.
    let is_accident = last.starts_with(char::is_uppercase) && stem.chars().all(char::is_alphabetic);
    (!is_accident).then_some(IDENTIFIER)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scan::scan;

    fn check(text: &str, expected: Option<&str>) {
        assert_eq!(type_of(text, &scan(text)[0]), expected, "{text}");
    }

    #[test]
    fn forms_give_types_away() {
        for (text, expected) in [
            ("https://acme.io/x", URL),
            ("www.acme.io/x", URL),
            ("acme.io", URL),
            ("alice@acme.io", EMAIL),
            ("get_user", IDENTIFIER),
            ("MAX_SIZE", IDENTIFIER),
            ("getUser", IDENTIFIER),
            ("UserService", IDENTIFIER),
            ("std::vec::Vec", IDENTIFIER),
            ("client.get", IDENTIFIER),
            ("10.0.0.1", IDENTIFIER),
            ("v1.2.3", VERSION),
            ("TKT-100", ISSUE),
            ("src/lib.rs", PATH),
            ("lib.rs", PATH),
            ("~/.config/rootset", PATH),
            ("rust-lang/rust", PATH),
            ("auth-service", IDENTIFIER),
            ("CI/CD", NAME),
            ("Node.js", NAME),
            ("C++", NAME),
        ] {
            check(text, Some(expected));
        }
        for text in [
            "and/or",
            "24/7",
            "10/12/2024",
            "e.g.",
            "done.Then",
            "3.5",
            "word",
            "PostgreSQL",
            "GitHub",
            "UTF-8",
            "client-server",
            "long-running",
        ] {
            check(text, None);
        }
    }

    #[test]
    fn tables_are_sorted() {
        assert!(CAMEL_NAMES.is_sorted() && FILE_EXTENSIONS.is_sorted());
        assert!(RUNNING.is_sorted() && NO_NAMES.is_sorted());
    }
}
