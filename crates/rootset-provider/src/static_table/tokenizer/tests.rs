//! Ids of the built-in WordPiece, against what the crate `tokenizers` gave for the same files; and against the crate itself
//! where it is compiled in.

use serde_json::{Value, json};

use super::*;

const WORDS: [&str; 30] = [
    "[PAD]", "[UNK]", "[CLS]", "[SEP]", "un", "##aff", "##able", "a", "##b", "cafe", "café", "Cafe", "中", "国", "!",
    "?", ".", "don", "'", "t", "$", "5", "##0", "##a", "«", "»", "naive", "σας", "σασ", "x",
];

fn bert(lowercase: bool) -> Value {
    let special = |token: &str, id: u32| json!({"id": id, "content": token, "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": true});
    json!({
        "version": "1.0", "truncation": null, "padding": null, "post_processor": null, "decoder": null,
        "added_tokens": [special("[PAD]", 0), special("[UNK]", 1), special("[CLS]", 2), special("[SEP]", 3), special("[SEP]ARATE", 30)],
        "normalizer": {
            "type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true, "strip_accents": null, "lowercase": lowercase,
        },
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "model": {
            "type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 12,
            "vocab": WORDS.iter().zip(0..).map(|(word, id)| ((*word).to_owned(), json!(id))).collect::<serde_json::Map<_, _>>(),
        },
    })
}

/// A text and its ids with and without capitals.
const FIXTURES: &[(&str, &[u32], &[u32])] = &[
    ("unaffable", &[4, 5, 6], &[4, 5, 6]),
    ("Unaffable", &[4, 5, 6], &[1]),
    ("ab  a\tb", &[7, 8, 7, 1], &[7, 8, 7, 1]),
    ("CAFÉ café Cafe", &[9, 9, 9], &[1, 10, 11]),
    ("cafe\u{301}", &[9], &[1]),
    ("中国a", &[12, 13, 7], &[12, 13, 7]),
    ("don't! «x»?.", &[17, 18, 19, 14, 24, 29, 25, 15, 16], &[17, 18, 19, 14, 24, 29, 25, 15, 16]),
    ("$50 $5a", &[20, 21, 22, 20, 21, 23], &[20, 21, 22, 20, 21, 23]),
    ("a\u{0}b\u{200d} \u{ad}a\u{fffd}", &[7, 8, 7], &[7, 8, 7]),
    ("naïve ΣΑΣ", &[26, 28], &[1, 1]),
    ("[CLS]a[SEP] a [SEP]ARATE[sep]", &[2, 7, 3, 7, 30, 1, 1, 1], &[2, 7, 3, 7, 30, 1, 1, 1]),
    ("aaaaaaaaaaaaa", &[1], &[1]),
    ("", &[], &[]),
    (" \n ", &[], &[]),
];

fn tokenizer(json: &Value) -> Tokenizer {
    Tokenizer::from_bytes(json.to_string().as_bytes()).unwrap()
}

#[test]
fn word_pieces_are_those_of_bert() {
    let (small, cased) = (tokenizer(&bert(true)), tokenizer(&bert(false)));
    assert!(matches!(small, Tokenizer::WordPiece(_)));
    for (text, in_small, as_cased) in FIXTURES {
        assert_eq!(small.encode(text).as_deref(), Some(*in_small), "{text:?} without capitals");
        assert_eq!(cased.encode(text).as_deref(), Some(*as_cased), "{text:?} with capitals");
    }
    assert_eq!((small.unknown_token(), small.id_max()), (Some(1), Some(30)));
}

#[test]
fn words_are_cut_as_the_file_says() {
    let ids = |kind: Value, text: &str| {
        let mut json = bert(true);
        json["pre_tokenizer"] = kind;
        tokenizer(&json).encode(text)
    };
    assert_eq!(ids(json!({"type": "Whitespace"}), "a! x!?"), Some(vec![7, 14, 29, 1]));
    assert_eq!(ids(json!({"type": "WhitespaceSplit"}), "a! x ab"), Some(vec![1, 29, 7, 8]));
    assert_eq!(ids(Value::Null, "a x"), Some(vec![1]));
}

#[cfg(not(feature = "tokenizers"))]
#[test]
fn what_is_not_built_in_is_named_with_the_feature_that_has_it() {
    let problem = |part: &str, value: Value| {
        let mut json = bert(true);
        json[part] = value;
        Tokenizer::from_bytes(json.to_string().as_bytes()).err().unwrap().to_string()
    };
    for (part, value, named) in [
        ("model", json!({"type": "Unigram"}), "model `Unigram`"),
        ("normalizer", json!({"type": "Precompiled"}), "normalizer `Precompiled`"),
        ("pre_tokenizer", json!({"type": "Metaspace"}), "pre-tokenizer `Metaspace`"),
        ("added_tokens", json!([{"id": 40, "content": "<x>", "normalized": true}]), "added token `<x>`"),
    ] {
        let problem = problem(part, value);
        assert!(problem.contains(named) && problem.contains("feature `tokenizers`"), "{problem}");
    }
}

#[cfg(feature = "tokenizers")]
mod against_the_crate {
    use super::*;

    /// Every letter of Unicode 8 between two others, and the fixtures. The crate's tables are that old: what came later is
    /// unassigned to it and of some category to us, and seven letters are of another category since.
    #[test]
    fn ids_are_those_of_the_crate() {
        let known = regex::Regex::new(r"^a\p{age:8.0}b$").unwrap();
        let letters = ('\0'..='\u{2ffff}').map(|letter| format!("a{letter}b")).filter(|text| known.is_match(text));
        let texts: Vec<String> = FIXTURES.iter().map(|(text, ..)| (*text).to_owned()).chain(letters).collect();
        assert!(texts.len() > 120_000, "{}", texts.len());
        for (lowercase, recategorised) in [(true, &MARKS_AND_PUNCTUATION[..]), (false, &PUNCTUATION[..])] {
            let json = bert(lowercase);
            let ours = tokenizer(&json);
            let theirs = other::OtherTokenizer::from_bytes(json.to_string().as_bytes(), &json["model"]).unwrap();
            let different: Vec<&String> =
                texts.iter().filter(|text| ours.encode(text) != theirs.encode(text)).collect();
            assert_eq!(different, recategorised);
        }
    }

    /// Nonspacing marks, which vanish from words without capitals, since then or no longer; and what is below.
    const MARKS_AND_PUNCTUATION: [&str; 7] =
        ["a\u{166d}b", "a\u{1734}b", "a\u{1885}b", "a\u{1886}b", "a\u{a9bd}b", "a\u{111c9}b", "a\u{1171e}b"];
    /// No longer punctuation, which is a word of its own.
    const PUNCTUATION: [&str; 2] = ["a\u{166d}b", "a\u{111c9}b"];
}
