//! What is found and what is not, by example. The large corpus is in `tests/`.

use super::*;

#[track_caller]
fn check(text: &str, expected: &str) {
    let redacted = redact(text);
    assert_eq!(redacted.text, expected);
    assert_eq!(redact(&redacted.text).count, 0, "{expected}");
}

const BODY: &str = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8";

#[test]
fn tokens_are_known_by_their_shape() {
    for (prefix, kind) in [
        ("ghp_", "github_token"),
        ("glpat-", "gitlab_token"),
        ("xoxb-", "slack_token"),
        ("sk-", "api_key"),
        ("sk-ant-api03-", "anthropic_key"),
        ("sk_live_", "stripe_key"),
        ("npm_", "npm_token"),
    ] {
        check(&format!("use {prefix}{BODY}, ok"), &format!("use [redacted:{kind}], ok"));
    }
    check(&format!("key AKIA{}.", "Q3ZR7LMN2XPT5WVB"), "key [redacted:aws_access_key_id].");
    check("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abcDEF123_-xyz!", "[redacted:jwt]!");
}

#[test]
fn private_keys_go_with_all_their_lines() {
    let key = "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\nIBAAK\n-----END RSA PRIVATE KEY-----";
    check(&format!("before\n{key}\nafter"), "before\n[redacted:private_key]\nafter");
    check("-----BEGIN PRIVATE KEY-----\nMIIEow\nIBAAK\n", "[redacted:private_key]\n");
    let public = "-----BEGIN PUBLIC KEY-----\nMIIEow\n-----END PUBLIC KEY-----";
    check(public, public);
}

#[test]
fn lines_after_a_private_key_keep_their_numbers_on_request() {
    let text = "a\n-----BEGIN PRIVATE KEY-----\nAAAA\nBBBB\n-----END PRIVATE KEY-----\nlast";
    let redacted = redact_keeping_lines(text);
    assert_eq!(redacted.count, 1);
    assert!(!redacted.text.contains("AAAA"), "{}", redacted.text);
    assert_eq!(redacted.text.lines().count(), text.lines().count());
    assert_eq!(redacted.text.lines().last(), Some("last"));
}

#[test]
fn named_values_go_when_they_look_like_what_the_name_promises() {
    for (text, expected) in [
        ("DB_PASSWORD=hunter2hunter9x!", "DB_PASSWORD=[redacted:password]"),
        (r#"{"api_key": "9f86d081884c7d659a2f"}"#, r#"{"api_key": "[redacted:secret]"}"#),
        ("client-secret: 'q9W8e7R6t5Y4=='", "client-secret: '[redacted:secret]'"),
        ("postgres://app:s3cr3t@db/x", "postgres://app:[redacted:url_password]@db/x"),
        ("let password: &str = \"Tr0ub4dor&3\";", "let password: &str = \"[redacted:password]\";"),
        ("<password>Tr0ub4dor&3</password>", "<password>[redacted:password]</password>"),
        ("set(\"api_key\", \"q9W8e7R6t5Y4u3\")", "set(\"api_key\", \"[redacted:secret]\")"),
        ("- name: DB_PASSWORD\n  value: Tr0ub4dor&3", "- name: DB_PASSWORD\n  value: [redacted:password]"),
        ("mysqldump --password Tr0ub4dor --all", "mysqldump --password [redacted:password] --all"),
        ("curl -u admin:Tr0ub4dor3 https://x", "curl -u admin:[redacted:password] https://x"),
        ("The staging password is Tr0ub4dor&3.", "The staging password is [redacted:password]."),
        ("machine x login me password Tr0ub4dor", "machine x login me password [redacted:netrc_password]"),
        ("Authorization: Basic dXNlcjpwYXNzd29yZA==", "Authorization: Basic [redacted:basic_auth]"),
        ("/cb?token=q9W8e7R6t5Y4u3&x=1", "/cb?token=[redacted:secret]&x=1"),
        (r#"{\"password\": \"Tr0ub4dor&3\"}"#, r#"{\"password\": \"[redacted:password]\"}"#),
    ] {
        check(text, expected);
    }
}

#[test]
fn sentences_statements_and_commands_give_secrets_away() {
    for (text, expected) in [
        (
            "The password for the guest network is Blue-42-Harbor!",
            "The password for the guest network is [redacted:password]",
        ),
        ("CREATE USER app IDENTIFIED BY 'Tr0ub4dor&3';", "CREATE USER app IDENTIFIED BY '[redacted:password]';"),
        ("ALTER ROLE app WITH PASSWORD 'Tr0ub4dor&3'", "ALTER ROLE app WITH PASSWORD '[redacted:password]'"),
        ("wandb login 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b", "wandb login [redacted:secret]"),
        ("login: admin / Tr0ub4dor&3", "login: admin / [redacted:password]"),
        ("| database password | Tr0ub4dor&3 |", "| database password | [redacted:password] |"),
        ("passphrase is \"blue harbor seven kites\"", "passphrase is \"[redacted:password]\""),
        ("recovery codes: 8f3k-29dm, 1a7c-44zx", "recovery codes: [redacted:recovery_code]"),
        ("bindpw Tr0ub4dor3", "bindpw [redacted:password]"),
    ] {
        check(text, expected);
    }
}

#[test]
fn sentences_about_secrets_stay() {
    for text in [
        "The password for the guest network is on the fridge.",
        "The token of the parser is Identifier, the key of the map is user-id-2024-01.",
        "recovery codes: ask Ana for them",
        "echo $password | sha256sum | cut -c1-8",
        "set retention_days 30 and set cache_key user-42",
        "The login is handled by auth-service-v2, see docs/login: v2/flows",
        "password: \"the usual one\"",
    ] {
        assert_eq!(redact(text).count, 0, "{text}: {}", redact(text).text);
    }
}

#[test]
fn a_field_of_an_object_is_judged_by_its_name() {
    let scan = SecretScan::default();
    assert_eq!(scan.redact_field("password", "Tr0ub4dor&3").text, "[redacted:password]");
    assert_eq!(scan.redact_field("note", "Tr0ub4dor&3").count, 0);
    assert_eq!(scan.redact_field("password", "the usual one").count, 0);
}

#[test]
fn personal_data_goes_only_on_request() {
    let text = "card 4242 4242 4242 4242, iban DE89 3704 0044 0532 0130 00 AND ssn 219-09-9999";
    assert_eq!(redact(text).count, 0);
    let scan = SecretScan { personal_data: true };
    let expected = "card [redacted:payment_card], iban [redacted:iban] AND ssn [redacted:us_ssn]";
    assert_eq!(scan.redact(text).text, expected);
    for text in ["order 4242 4242 4242 4241", "DE88 3704 0044 0532 0130 00", "000-12-3456", "1731774856123"] {
        assert_eq!(scan.redact(text).count, 0, "{text}");
    }
}

#[test]
fn ordinary_text_is_borrowed() {
    for text in [
        "The password is reset by the token service; secret: authentication",
        "id 018f2f3e-9c4b-7cc1-a1f0-000000000001, commit 57b3e5eb8be710e0256141a60e5a0d24c9443e36",
        "token: 018f2f3e-9c4b-7cc1-a1f0-000000000001",
        "secret: /etc/keys/a1b2c3d4e5.pem and password=${DB_PASSWORD_12345}",
        "token = next_token_v12(parser34)",
        "sk-learn-is-a-library-for-machine-learning eyJ task-force",
        "http://localhost:8080/path@x and https://user@host",
        "postgres://app:***@db",
        "postgres://user:password@localhost/db",
        "crates/rootset-text/src/secrets.rs",
        "AKIAIOSFODNN7EXAMPLE",
    ] {
        assert!(matches!(redact(text), Redacted { text: Cow::Borrowed(_), count: 0 }), "{text}");
    }
}

#[test]
fn there_are_at_least_a_hundred_and_twenty_kinds() {
    let kinds = kinds();
    assert!(kinds.len() >= 120, "{}", kinds.len());
    let is_word =
        |kind: &str| kind.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_');
    assert!(kinds.iter().all(|kind| is_word(kind)));
}
