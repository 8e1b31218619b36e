//! Files that are secrets as a whole, by their names.

const NAMES: &[&str] = &[
    ".netrc",
    ".npmrc",
    ".pgpass",
    ".pypirc",
    ".htpasswd",
    ".git-credentials",
    "credentials",
    "id_rsa",
    "id_dsa",
    "id_ecdsa",
    "id_ed25519",
];
const EXTENSIONS: &[&str] = &["pem", "key", "p12", "pfx", "jks", "keystore", "kdbx", "ppk", "gpg"];
/// Kept without values, to show what there is to set.
const TEMPLATE_ENDINGS: &[&str] = &[".example", ".sample", ".template", ".dist"];

pub fn is_secret_file(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path).to_ascii_lowercase();
    if TEMPLATE_ENDINGS.iter().any(|ending| name.ends_with(ending)) {
        return false;
    }
    let is_environment = name == ".env" || name.starts_with(".env.") || name.ends_with(".env");
    let has_extension = name.rsplit_once('.').is_some_and(|(_, extension)| EXTENSIONS.contains(&extension));
    is_environment || has_extension || NAMES.contains(&name.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_hold_nothing_but_secrets_are_known_by_name() {
        for path in [".env", "app/.env.production", "prod.env", "deploy/server.PEM", "home/.ssh/id_ed25519", ".netrc"] {
            assert!(is_secret_file(path), "{path}");
        }
        for path in [".env.example", "environment.py", "keys.py", "src/pem.rs", "monkey.txt", "credentials.py"] {
            assert!(!is_secret_file(path), "{path}");
        }
    }
}
