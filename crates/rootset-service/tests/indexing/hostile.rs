//! Trees that are strange, broken or hostile: no hang, no crash, nothing outside the root, everything counted.

use std::fs::File;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::process::Command;

use serde_json::json;

use crate::harness::text_of;
use crate::place::{ORDERS, Place, counts, skipped, write};

#[test]
fn links_are_not_followed_neither_inside_nor_outside() {
    let place = Place::new();
    write(&place.beside("outside/private.py"), "def unreachable_secret():\n    pass\n");
    symlink(place.beside("outside/private.py"), place.file("link.py")).unwrap();
    symlink("../outside", place.file("folder")).unwrap();
    symlink("..", place.file("src/up")).unwrap();
    symlink(".", place.file("loop")).unwrap();
    symlink("orders.py", place.file("alias.py")).unwrap();
    symlink("/dev/zero", place.file("zero.py")).unwrap();
    symlink("nowhere", place.file("broken.py")).unwrap();
    let answer = place.index();
    assert_eq!(counts(&answer), [4, 4, 0, 0], "{answer}");
    assert_eq!(skipped(&answer), 7, "{answer}");
    assert_eq!(place.found("unreachable_secret"), [""; 0]);
    assert_eq!(place.world.places_with(b"unreachable_secret"), [""; 0]);
}

#[test]
fn pipes_and_sockets_are_skipped_without_waiting() {
    let place = Place::new();
    let made = Command::new("mkfifo").arg(place.file("pipe.py")).status().unwrap();
    assert!(made.success());
    let _listening = std::os::unix::net::UnixListener::bind(place.file("socket.py")).unwrap();
    let answer = place.index();
    assert_eq!(counts(&answer), [4, 4, 0, 0], "{answer}");
    assert_eq!(skipped(&answer), 2, "{answer}");
}

#[test]
fn a_file_of_two_gibibytes_is_skipped_without_being_read() {
    let place = Place::new();
    File::create(place.file("huge.py")).unwrap().set_len(2 << 30).unwrap();
    let answer = place.index();
    assert_eq!(answer["files_indexed"], 4, "{answer}");
    assert_eq!(skipped(&answer), 1, "{answer}");
    // Also when the request would allow it: a sparse file is nothing but zeroes.
    let answer = place.index_with(json!({"max_file_size": 4096}));
    assert_eq!(skipped(&answer), 1, "{answer}");
}

#[test]
fn invalid_utf8_is_indexed_as_far_as_it_goes_or_skipped_and_counted() {
    let place = Place::new();
    place.write("latin.py", [b"def caf".as_slice(), &[0xe9], b"():\n    return 'pineapple'\n"].concat());
    place.write("noise.py", (0..4_096_u32).map(|n| (n * 7 % 251) as u8 | 0x80).collect::<Vec<u8>>());
    let answer = place.index();
    assert_eq!(counts(&answer)[1] + skipped(&answer), 6, "{answer}");
    assert_eq!(counts(&place.index())[1], 0, "and not again");
    place.world.assert_doctor_is_content();
}

#[test]
fn a_single_line_of_a_megabyte_is_no_trouble() {
    let place = Place::new();
    place.write("line.py", format!("value = [{}]\n", "1, ".repeat(340_000)));
    place.write("line.md", "word ".repeat(200_000));
    place.write("line.js", format!("var a={};", "f(".repeat(300_000)));
    let answer = place.index();
    assert_eq!(counts(&answer)[1] + skipped(&answer), 7, "{answer}");
    assert_eq!(counts(&place.index())[1], 0);
}

#[test]
fn deep_nesting_costs_one_file_its_symbols_at_most() {
    let place = Place::new();
    let depth = 50_000;
    place.write("deep.py", format!("def deep_pineapple():\n    return {}1{}\n", "(".repeat(depth), ")".repeat(depth)));
    place.write("deep.rs", format!("fn deep() {{ {}{} }}\n", "{".repeat(depth), "}".repeat(depth)));
    place.write("deep.ts", format!("const x = {}{};\n", "[".repeat(depth), "]".repeat(depth)));
    place.write("deep.c", format!("int x = {}1;\n", "-(".repeat(depth)));
    let answer = place.index();
    assert_eq!(counts(&answer)[1] + skipped(&answer), 8, "{answer}");
    assert_eq!(place.symbol_names("refund"), ["billing.refund"]);
    place.world.assert_doctor_is_content();
}

#[test]
fn deep_folders_and_many_files_are_walked() {
    let place = Place::new();
    let deep = "d/".repeat(200);
    place.write(&format!("{deep}leaf.py"), "def leaf_function():\n    pass\n");
    place.index();
    assert_eq!(place.found("leaf_function"), [format!("{deep}leaf.py")]);
}

#[test]
fn binaries_minified_and_lock_files_are_skipped_and_counted() {
    let place = Place::new();
    place.write("logo.py", [b"GIF89a".as_slice(), &[0, 1, 2, 3]].concat());
    place.write("app.min.js", "function a(b){return b}");
    place.write("bundle.js", format!("!function(){{{}}}();", "var a=1;".repeat(5_000)));
    place.write("Cargo.lock", "[[package]]\nname = \"a\"\n");
    let answer = place.index();
    assert_eq!(counts(&answer)[1], 4, "{answer}");
    assert_eq!(skipped(&answer), 4, "{answer}");
}

#[test]
fn windows_line_ends_and_byte_order_marks_change_no_symbol() {
    let place = Place::new();
    place.write("crlf.py", ORDERS.replace('\n', "\r\n"));
    place.write("bom.py", format!("\u{feff}{ORDERS}"));
    place.index();
    assert_eq!(place.symbol_names("cancel_order"), ["bom.cancel_order", "crlf.cancel_order", "orders.cancel_order"]);
    let lines: Vec<String> = place.symbols("cancel_order").iter().map(|it| it["lines"].to_string()).collect();
    assert!(lines.iter().all(|it| *it == lines[0]), "{lines:?}");
    let signatures: Vec<String> = place.symbols("cancel_order").iter().map(|it| text_of(&it["signature"])).collect();
    assert!(signatures.iter().all(|it| *it == signatures[0]), "{signatures:?}");
    assert_eq!(counts(&place.index())[1], 0);
}

#[test]
fn empty_files_and_files_of_blanks_are_memories_without_chunks() {
    let place = Place::with([("empty.py", ""), ("blank.md", "\n\n  \n"), ("kept.py", "x = 1\n")]);
    let answer = place.index();
    assert_eq!(counts(&answer), [3, 3, 0, 0], "{answer}");
    assert_eq!(place.chunk_ids("empty.py"), [""; 0]);
    assert_eq!(counts(&place.index()), [3, 0, 3, 0]);
    place.write("empty.py", "def no_longer():\n    pass\n");
    place.index();
    assert_eq!(place.symbol_names("no_longer"), ["empty.no_longer"]);
    place.write("empty.py", "");
    place.index();
    assert_eq!(place.found("no_longer"), [""; 0]);
    place.world.assert_doctor_is_content();
}

#[test]
fn names_with_blanks_quotes_and_letters_of_all_alphabets_are_names() {
    let paths =
        ["with blank.py", "größe/naïve.py", "日本/猫.py", "it's.py", "a\"b.py", "percent%s.py", "-dash.py", "tab\t.py"];
    let place = Place::with([]);
    let words = ["apple", "banana", "cherry", "damson", "elder", "fig", "grape", "hazel"];
    for (path, word) in paths.iter().zip(words) {
        place.write(path, format!("def {word}():\n    pass\n"));
    }
    let answer = place.index();
    assert_eq!(counts(&answer)[1], 8, "{answer}");
    for (path, word) in paths.iter().zip(words) {
        assert_eq!(place.found(word), [*path]);
    }
    assert_eq!(counts(&place.index()), [8, 0, 8, 0]);
}

#[test]
fn a_name_that_is_no_text_is_skipped_and_counted() {
    let place = Place::new();
    let name = std::ffi::OsStr::from_bytes(b"bad\xff.py");
    if std::fs::write(place.root().join(name), "x = 1\n").is_err() {
        eprintln!("SKIPPED: this file system takes no names that are not UTF-8");
        return;
    }
    let answer = place.index();
    assert_eq!(counts(&answer)[1], 4, "{answer}");
    assert_eq!(skipped(&answer), 1, "{answer}");
}

#[test]
fn a_folder_with_the_name_of_a_source_is_a_folder() {
    let place = Place::new();
    place.write("package.py/inner.py", "def inner_function():\n    pass\n");
    std::fs::create_dir(place.file("empty.py")).unwrap();
    let answer = place.index();
    assert_eq!(counts(&answer)[1], 5, "{answer}");
    assert_eq!(place.found("inner_function"), ["package.py/inner.py"]);
}

#[test]
fn names_that_lead_to_each_other_end() {
    let place = Place::new();
    // Each result is that of the next function; the last leads back to the first.
    let count = 3_000;
    let functions: String = (0..count)
        .map(|number| {
            format!("const value_{number} = make_{}();\nfunction make_{number}() {{}}\n", (number + 1) % count)
        })
        .collect();
    let held: String =
        (0..count).map(|number| format!("const held_{number} = held_{};\n", (number + 1) % count)).collect();
    place.write(
        "circle.js",
        format!("{functions}{held}function use() {{ held_7.save(); held_7(); }}\nclass Store {{ save() {{}} }}\n"),
    );
    place.index();
    let answer = place.world.call("get_callers", json!({ "qualified_name": "Store.save" }));
    assert_eq!(answer["known"], true, "{answer}");
}
