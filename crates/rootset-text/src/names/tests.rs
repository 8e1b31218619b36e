use super::{NAME_BYTES_MAX, each_name, each_number, name_hash};

fn names(text: &str) -> Vec<&str> {
    let mut names = Vec::new();
    each_name(text, |name| names.push(name));
    names
}

#[test]
fn identifiers_are_what_looks_like_code() {
    assert_eq!(names("call parse_header(HttpClient) in os.path.join"), ["parse_header", "HttpClient", "os.path.join"]);
    assert_eq!(names("self._value2Text = x86Asm"), ["self._value2Text", "x86Asm"]);
    assert!(names("the parser returned 42 values; UPPER, Title, a_b, x.y and 1.2.3456 are none").is_empty());
}

#[test]
fn paths_are_told_whole_and_by_their_file_name() {
    assert_eq!(names("see ./src/io/main.rs, then /etc/hosts."), ["src/io/main.rs", "main.rs", "/etc/hosts"]);
    assert_eq!(names("in `crates/rootset-gc/` and a/.hidden"), ["crates/rootset-gc", "a/.hidden"]);
    assert_eq!(names("https://docs.rs/serde"), ["//docs.rs/serde"]);
    assert!(names("a/b or 1/2, ./ / // .. -").is_empty());
}

#[test]
fn file_names_keep_their_hyphens_and_other_hyphens_separate() {
    assert_eq!(names("read-me.md, test-data.v2.json"), ["read-me.md", "test-data.v2.json"]);
    assert_eq!(names("pre-parse_header half-done.Sentence-like"), ["parse_header", "done.Sentence"]);
    assert_eq!(names("--max_tokens=5 -quiet_mode.log"), ["max_tokens", "quiet_mode.log"]);
}

#[test]
fn digits_do_not_begin_an_identifier_and_full_stops_join_only_identifiers() {
    assert_eq!(
        names("12parse_it foo_bar.1baz_qux foo_bar..baz_qux"),
        ["parse_it", "foo_bar", "baz_qux", "foo_bar", "baz_qux"]
    );
}

#[test]
fn any_text_is_read_in_its_own_time_and_endless_names_are_left_out() {
    assert_eq!(names("größe_maximum: naïve_value 東京_tower_x"), ["e_maximum", "ve_value", "_tower_x"]);
    for unit in ["a_", "a.", "/a", "-a", "./", "aB", "a-b.c", "._-/"] {
        let text = unit.repeat(500_000);
        assert!(names(&text).iter().all(|name| name.len() <= NAME_BYTES_MAX), "{unit}");
    }
    let longest = "ab_".repeat(100)[..NAME_BYTES_MAX].to_owned();
    assert_eq!(names(&longest), [longest.as_str()]);
    assert!(names(&format!("{longest}x")).is_empty());
}

#[test]
fn hashes_are_those_of_the_first_version() {
    assert_eq!(name_hash("parse_header"), 7_237_237_033_435_863_837);
    assert_ne!(name_hash("parse_header"), name_hash("Parse_header"));
}

#[test]
fn numbers_are_told_apart_from_what_only_numbers_lines() {
    let mut numbers = Vec::new();
    each_number("  117→timeout = 4500\n42: port 8080, v1.2.330\n99 of 1000\nab123 7", |number| numbers.push(number));
    assert_eq!(numbers, ["4500", "8080", "330", "1000"]);
}
