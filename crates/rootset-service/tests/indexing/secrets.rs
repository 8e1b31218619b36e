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

/// Files as projects have them, with `{S}` where the secret is. Some are skipped by name, the others are indexed without it.
const BEARERS: &[(&str, &str)] = &[
    (".env", "DB_PASSWORD={S}\n"),
    ("config/.env.local", "API_TOKEN={S}\n"),
    (".envrc", "export DB_PASSWORD={S}\n"),
    (".netrc", "machine api login ci password {S}\n"),
    (".npmrc", "//registry.npmjs.org/:_authToken={S}\n"),
    (".yarnrc.yml", "npmAuthToken: \"{S}\"\n"),
    (".pypirc", "[pypi]\nusername = __token__\npassword = {S}\n"),
    (".pgpass", "db:5432:shop:app:{S}\n"),
    (".git-credentials", "https://ci:{S}@git.internal\n"),
    (".docker/config.json", "{\"auths\": {\"r\": {\"identitytoken\": \"{S}\"}}}\n"),
    (".kube/config", "users:\n- user:\n    token: {S}\n"),
    ("kubeconfig", "users:\n- user:\n    token: {S}\n"),
    (".aws/credentials", "[default]\naws_secret_access_key = {S}\n"),
    (".s3cfg", "secret_key = {S}\n"),
    ("credentials", "secret = {S}\n"),
    ("terraform.tfstate", "{\"resources\": [{\"attributes\": {\"password\": \"{S}\"}}]}\n"),
    ("prod.tfvars", "db_password = \"{S}\"\n"),
    ("main.tf", "resource \"db\" \"x\" {\n  password = \"{S}\"\n}\n"),
    ("variables.tf", "variable \"db_password\" {\n  default = \"{S}\"\n}\n"),
    ("docker-compose.yml", "services:\n  db:\n    environment:\n      - POSTGRES_PASSWORD={S}\n"),
    ("Dockerfile", "FROM alpine\nENV API_TOKEN={S}\n"),
    ("k8s/secret.yaml", "kind: Secret\nstringData:\n  password: {S}\n"),
    ("k8s/deployment.yaml", "env:\n- name: DB_PASSWORD\n  value: \"{S}\"\n"),
    ("helm/values.yaml", "auth:\n  adminPassword: {S}\n"),
    (".github/workflows/ci.yml", "env:\n  NPM_TOKEN: {S}\n"),
    ("config/database.yml", "production:\n  password: {S}\n"),
    ("config/settings.py", "DATABASES = {'default': {'PASSWORD': '{S}'}}\n"),
    ("application.properties", "spring.datasource.password={S}\n"),
    ("gradle.properties", "signing.password={S}\n"),
    ("appsettings.json", "{\"Db\": \"Server=x;User Id=a;Password={S};\"}\n"),
    ("web.config", "<add key=\"ApiKey\" value=\"{S}\" />\n"),
    (".m2/settings.xml", "<server><password>{S}</password></server>\n"),
    ("deploy.sh", "curl -u deploy:{S} https://ci.internal\n"),
    ("src/client.ts", "const client = new Client({ apiKey: '{S}' });\n"),
    ("src/main.go", "var dsn = \"postgres://app:{S}@db/shop\"\n"),
    ("docs/setup.md", "The staging password is `{S}`.\n"),
];

#[test]
fn no_file_that_bears_a_secret_is_stored_in_the_clear() {
    let place = Place::new();
    let secret = |number: usize| {
        let digits = blake3::hash(&number.to_le_bytes()).to_hex();
        format!("Kq{}Zv", &digits[..16])
    };
    for (number, (path, text)) in BEARERS.iter().enumerate() {
        place.write(path, text.replace("{S}", &secret(number)));
    }
    place.index();
    for (number, (path, _)) in BEARERS.iter().enumerate() {
        let secret = secret(number);
        for needle in [secret.clone(), secret.to_lowercase(), secret[6..].to_lowercase()] {
            assert_eq!(place.world.places_with(needle.as_bytes()), [""; 0], "{path}");
        }
    }
    assert!(place.served().contains(&"main.tf".to_owned()) || place.served().contains(&"docs/setup.md".to_owned()));
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
