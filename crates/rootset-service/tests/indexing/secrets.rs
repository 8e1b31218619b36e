//! What looks like a secret is not in the database, in no form and in no file of it.

use crate::place::{Place, counts, skipped};

/// Shaped like the real things, and nobody's.
const AWS_KEY: &str = concat!("AKIA", "Q3ZR7LMN2XPT5WVB");
const GITHUB_TOKEN: &str = concat!("ghp", "_Zk3vQ9rT1xLw8YbN5mPc2HsD7fGj4KaR6uVe");
const PASSWORD: &str = "correcthorsebatterystaple9471";

fn pem() -> String {
    let body = ["MIIEpAIBAAKCAQEAzyxwvutsrqponm", "LKJIHGFEDCBAzyxwvutsrq9876543210"].join("\n");
    format!("-----BEGIN RSA PRIVATE KEY-----\n{body}\n-----END RSA PRIVATE KEY-----\n")
}

/// Whole values, and tails of them: full-text terms are stored without what they share with the term before.
#[track_caller]
fn assert_is_nowhere(place: &Place, secret: &str) {
    for needle in [secret.to_owned(), secret.to_lowercase(), secret[secret.len() / 2..].to_lowercase()] {
        assert_eq!(place.world.places_with(needle.as_bytes()), [""; 0], "`{needle}`");
    }
}

#[test]
fn files_of_secrets_are_skipped_and_counted() {
    let place = Place::new();
    place.write(".env", format!("DATABASE_PASSWORD={PASSWORD}\n"));
    place.write("deploy/.env.production", format!("DATABASE_PASSWORD={PASSWORD}\n"));
    place.write("server.pem", pem());
    place.write("id_rsa", pem());
    let answer = place.index();
    assert_eq!(counts(&answer)[1], 4, "{answer}");
    assert_eq!(skipped(&answer), 4, "{answer}");
    assert_is_nowhere(&place, PASSWORD);
    assert_is_nowhere(&place, "LKJIHGFEDCBAzyxwvutsrq9876543210");
}

#[test]
fn secrets_inside_of_sources_are_redacted_and_the_rest_is_indexed() {
    let place = Place::new();
    let source = format!(
        "import boto\n\n\ndef connect_pineapple():\n    key = \"{AWS_KEY}\"\n    token = '{GITHUB_TOKEN}'\n    return key, token\n\n\ndef after():\n    pass\n"
    );
    place.write("client.py", source);
    place.write("keys.py", format!("KEY = \"\"\"{}\"\"\"\n\n\ndef below_the_key():\n    pass\n", pem()));
    let answer = place.index();
    assert_eq!(counts(&answer)[1], 6, "{answer}");
    assert_eq!(place.symbol_names("connect_pineapple"), ["client.connect_pineapple"]);
    for secret in [AWS_KEY, GITHUB_TOKEN, "LKJIHGFEDCBAzyxwvutsrq9876543210"] {
        assert_is_nowhere(&place, secret);
    }
    let said = answer.to_string();
    assert!(said.contains("redact") || said.contains("secret"), "they are counted: {answer}");
    // A redaction moves no line.
    let lines = place.symbols("below_the_key")[0]["lines"].to_string();
    let before_it = 1 + pem().lines().count() + 2;
    assert!(lines.contains(&(before_it + 1).to_string()), "{lines}");
    assert_eq!(counts(&place.index())[1], 0, "a file with a redacted value is unchanged, too");
}

#[test]
fn a_secret_that_is_added_later_is_not_stored_either() {
    let place = Place::indexed();
    place.write("billing.py", format!("TOKEN = '{GITHUB_TOKEN}'\n\n\ndef refund(item):\n    return item\n"));
    place.index();
    assert_is_nowhere(&place, GITHUB_TOKEN);
    place.rename("billing.py", ".env");
    place.index();
    assert!(!place.served().contains(&".env".to_owned()));
}
