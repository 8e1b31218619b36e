//! Files that are secrets as a whole, by their names and places. What holds a secret among other things is redacted instead.

/// Compared without case.
const NAMES: &[&str] = &[
    // Environments and logins
    ".env",
    ".envrc",
    ".netrc",
    "_netrc",
    ".pgpass",
    "pgpass.conf",
    ".my.cnf",
    ".mylogin.cnf",
    ".git-credentials",
    ".gitcookies",
    ".htpasswd",
    "htpasswd",
    ".htdigest",
    "shadow",
    "gshadow",
    ".s3cfg",
    ".boto",
    ".dockercfg",
    ".vault-token",
    ".vault_pass",
    ".rediscli_auth",
    ".mongorc.js",
    "credentials",
    "credentials.json",
    "credentials.yml.enc",
    "credentials.toml",
    "credentials.tfrc.json",
    "client_secret.json",
    "client_secrets.json",
    "application_default_credentials.json",
    "service-account.json",
    "service_account.json",
    "serviceaccount.json",
    "serviceaccountkey.json",
    "secrets.yml",
    "secrets.yaml",
    "secrets.json",
    "secrets.toml",
    "secret.yml",
    "secret.yaml",
    "master.key",
    "kubeconfig",
    "accesstokens.json",
    "azureprofile.json",
    "sftp-config.json",
    "filezilla.xml",
    "recentservers.xml",
    "sitemanager.xml",
    "wp-config.php",
    // Package registries
    ".npmrc",
    ".yarnrc.yml",
    ".pypirc",
    ".gem_credentials",
    "nuget.config",
    "settings-security.xml",
    // Keys
    "id_rsa",
    "id_dsa",
    "id_ecdsa",
    "id_ecdsa_sk",
    "id_ed25519",
    "id_ed25519_sk",
    "ssh_host_rsa_key",
    "ssh_host_ecdsa_key",
    "ssh_host_ed25519_key",
    "secring.gpg",
    "private.key",
    "privkey.pem",
    "wg0.conf",
];
const EXTENSIONS: &[&str] = &[
    "pem",
    "key",
    "p12",
    "pfx",
    "p8",
    "pkcs12",
    "jks",
    "jceks",
    "bks",
    "keystore",
    "kdbx",
    "kdb",
    "ppk",
    "gpg",
    "asc",
    "age",
    "agekey",
    "ovpn",
    "keytab",
    "tfvars",
    "tfstate",
    "rdp",
    "mobileprovision",
    "cscfg",
    "pubxml",
    "psafe3",
    "1pux",
    "htpasswd",
];
/// Names that end like this, whatever stands before.
const ENDINGS: &[&str] =
    &[".env", ".tfvars.json", ".tfstate.backup", ".kubeconfig", "-kubeconfig", "_rsa", "_dsa", "_ecdsa", "_ed25519"];
/// Files by the folder they are in, where the name alone says nothing.
const PLACES: &[&str] = &[
    ".docker/config.json",
    ".kube/config",
    ".aws/config",
    ".azure/msal_token_cache.json",
    ".config/gh/hosts.yml",
    ".config/gcloud/credentials.db",
    ".config/hub",
    ".m2/settings.xml",
    ".cargo/credentials",
    ".gem/credentials",
    ".composer/auth.json",
    ".config/composer/auth.json",
    ".terraform.d/credentials.tfrc.json",
    ".config/pip/pip.conf",
    ".pip/pip.conf",
    "etc/shadow",
];
/// Everything below these.
const FOLDERS: &[&str] = &[".ssh/", ".gnupg/", ".password-store/", ".secrets/"];
/// Kept without values, to show what there is to set.
const TEMPLATE_ENDINGS: &[&str] = &[".example", ".sample", ".template", ".dist"];
/// What is public in those folders.
const PUBLIC_ENDINGS: &[&str] = &[".pub", "known_hosts", "authorized_keys"];

pub fn is_secret_file(path: &str) -> bool {
    let path = path.to_ascii_lowercase();
    let name = path.rsplit('/').next().unwrap_or(&path);
    let ends_with_one = |endings: &[&str]| endings.iter().any(|ending| name.ends_with(ending));
    if ends_with_one(TEMPLATE_ENDINGS) || ends_with_one(PUBLIC_ENDINGS) {
        return false;
    }
    let has_extension = name.rsplit_once('.').is_some_and(|(_, extension)| EXTENSIONS.contains(&extension));
    let is_at =
        |place: &&str| path.strip_suffix(*place).is_some_and(|before| before.is_empty() || before.ends_with('/'));
    let is_below = |folder: &&str| path.starts_with(*folder) || path.contains(&format!("/{folder}"));
    NAMES.contains(&name)
        || name.starts_with(".env.")
        || has_extension
        || ends_with_one(ENDINGS)
        || PLACES.iter().any(is_at)
        || FOLDERS.iter().any(is_below)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_hold_nothing_but_secrets_are_known_by_name() {
        for path in [
            ".env",
            "app/.env.production",
            "prod.env",
            "deploy/server.PEM",
            "home/.ssh/id_ed25519",
            "home/.ssh/config",
            ".netrc",
            ".npmrc",
            ".pypirc",
            "infra/terraform.tfstate",
            "infra/prod.tfvars",
            "home/.docker/config.json",
            ".kube/config",
            "web/.htpasswd",
            "keys/deploy_rsa",
            "gcp/service-account.json",
            "home/.aws/credentials",
            "home/.cargo/credentials.toml",
        ] {
            assert!(is_secret_file(path), "{path}");
        }
        for path in [
            ".env.example",
            "environment.py",
            "keys.py",
            "src/pem.rs",
            "monkey.txt",
            "credentials.py",
            "src/config.json",
            "home/.ssh/id_rsa.pub",
            "docs/kube/config.md",
            "src/secrets.rs",
            "src/identity.rs",
        ] {
            assert!(!is_secret_file(path), "{path}");
        }
    }
}
