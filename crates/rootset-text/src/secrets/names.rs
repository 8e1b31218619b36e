//! Names whose value is a secret: `DB_PASSWORD`, `"apiKey"`, `client-secret`. What the value has to look like is elsewhere.

use super::judge;

/// What a name promises about its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Promise {
    /// Somebody typed it: a few characters of several kinds suffice.
    Password,
    /// A machine drew it at random.
    Secret,
    /// The same, and such values are written as UUIDs, too.
    SecretOrUuid,
    /// Perhaps: many other things are called a key.
    Key,
    /// `user:password` in base64.
    Credentials,
    /// Twelve or more words.
    Words,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Name {
    pub promise: Promise,
    pub kind: &'static str,
}

/// A longer name than this names nothing.
pub(super) const NAME_BYTES_MAX: usize = 64;

const PASSWORDS: &[&str] = &[
    "password",
    "passwd",
    "passphrase",
    "passcode",
    "passwort",
    "kennwort",
    "motdepasse",
    "contrasena",
    "senha",
    "pwd",
    "bindpw",
    "rootpw",
    "userpass",
    "storepass",
    "keypass",
    "psk",
];

/// Compared at the end of a name, in small letters and without separators.
const SECRETS: &[&str] = &[
    "secret",
    "token",
    "credential",
    "credentials",
    "authkey",
    "privatekey",
    "signingkey",
    "signaturekey",
    "encryptionkey",
    "decryptionkey",
    "cryptkey",
    "masterkey",
    "accountkey",
    "sharedkey",
    "sharedaccesskey",
    "presharedkey",
    "sessionkey",
    "storagekey",
    "adminkey",
    "rootkey",
    "appkey",
    "applicationkey",
    "servicekey",
    "servicerolekey",
    "licensekey",
    "ingestkey",
    "ingestionkey",
    "integrationkey",
    "writekey",
    "serverkey",
    "deploykey",
    "hmackey",
    "jwtkey",
    "sigkey",
    "secretkeybase",
    "functionskey",
    "subscriptionkey",
    "bearer",
    "xapikey",
    "validationkey",
    "consumerkey",
    "unsealkey",
    "phpsessid",
    "jsessionid",
    "connectsid",
    "xamzsignature",
    "xamzsecuritytoken",
    "xgoogsignature",
];

const SECRETS_OR_UUIDS: &[&str] =
    &["apikey", "apitoken", "clientsecret", "secretkey", "accesskey", "secretaccesskey", "apisecret", "authorization"];

/// Names that end like a secret's and are not.
const HARMLESS: &[&str] = &[
    "publickey",
    "publishablekey",
    "sitekey",
    "hostkey",
    "pagetoken",
    "nexttoken",
    "continuationtoken",
    "continuetoken",
    "paginationtoken",
    "cursortoken",
    "synctoken",
    "resumetoken",
    "publictoken",
    "monkey",
    "donkey",
    "primarykey",
    "foreignkey",
    "cachekey",
    "sortkey",
    "partitionkey",
    "idempotencykey",
    "hashkey",
    "rowkey",
    "objectkey",
    "mapkey",
    "lookupkey",
    "translationkey",
    "routingkey",
    "groupkey",
    "indexkey",
    "uniquekey",
    "compositekey",
    "s3key",
    "filekey",
    "statekey",
    "querykey",
    "hotkey",
    "turnkey",
    "surrogatekey",
    "naturalkey",
    "rangekey",
    "shardkey",
    "dedupkey",
    "sshkey",
    "gpgkey",
    "aggregatekey",
    "anonkey",
    "keyid",
];

/// What people put behind a name: `api_key_prod`, `password2`.
const QUALIFIERS: &[&str] = &[
    "production",
    "prod",
    "staging",
    "stage",
    "development",
    "dev",
    "live",
    "test",
    "testing",
    "value",
    "old",
    "new",
    "primary",
    "secondary",
    "default",
    "base64",
    "b64",
    "plain",
    "backup",
    "current",
    "override",
    "env",
];

/// Providers whose keys have no shape of their own: the name says whose they are.
const PROVIDERS: &[(&str, &str)] = &[
    ("awssecret", "aws_secret_key"),
    ("secretaccesskey", "aws_secret_key"),
    ("awssession", "aws_session_token"),
    ("xamz", "aws_signature"),
    ("accountkey", "azure_storage_key"),
    ("sharedaccesskey", "azure_shared_access_key"),
    ("azure", "azure_secret"),
    ("adafruit", "adafruit_key"),
    ("algolia", "algolia_key"),
    ("alibaba", "alibaba_secret_key"),
    ("aliyun", "alibaba_secret_key"),
    ("asana", "asana_secret"),
    ("auth0", "auth0_secret"),
    ("bitbucket", "bitbucket_secret"),
    ("bugsnag", "bugsnag_key"),
    ("bittrex", "bittrex_key"),
    ("braintree", "braintree_key"),
    ("circle", "circleci_token"),
    ("cloudflare", "cloudflare_key"),
    ("codecov", "codecov_token"),
    ("cohere", "cohere_key"),
    ("coinbase", "coinbase_key"),
    ("confluent", "confluent_secret"),
    ("contentful", "contentful_token"),
    ("datadog", "datadog_key"),
    ("ddapi", "datadog_key"),
    ("ddapp", "datadog_key"),
    ("deepgram", "deepgram_key"),
    ("deepseek", "deepseek_key"),
    ("discord", "discord_secret"),
    ("drone", "drone_token"),
    ("dropbox", "dropbox_token"),
    ("elastic", "elastic_key"),
    ("etsy", "etsy_key"),
    ("facebook", "facebook_secret"),
    ("fastly", "fastly_token"),
    ("firebase", "firebase_key"),
    ("flickr", "flickr_key"),
    ("freshdesk", "freshdesk_key"),
    ("gitter", "gitter_token"),
    ("heroku", "heroku_key"),
    ("hubspot", "hubspot_key"),
    ("ibm", "ibm_cloud_key"),
    ("instagram", "instagram_secret"),
    ("intercom", "intercom_token"),
    ("jenkins", "jenkins_token"),
    ("jira", "atlassian_token"),
    ("kraken", "kraken_key"),
    ("kucoin", "kucoin_key"),
    ("launchdarkly", "launchdarkly_key"),
    ("linkedin", "linkedin_secret"),
    ("linode", "linode_token"),
    ("looker", "looker_secret"),
    ("mailchimp", "mailchimp_key"),
    ("mailgun", "mailgun_key"),
    ("mailjet", "mailjet_key"),
    ("mattermost", "mattermost_token"),
    ("messagebird", "messagebird_token"),
    ("meraki", "meraki_key"),
    ("mistral", "mistral_key"),
    ("mixpanel", "mixpanel_secret"),
    ("mongo", "mongodb_key"),
    ("netlify", "netlify_token"),
    ("newrelic", "new_relic_key"),
    ("okta", "okta_token"),
    ("opsgenie", "opsgenie_key"),
    ("nomad", "nomad_token"),
    ("ovh", "ovh_secret"),
    ("pagerduty", "pagerduty_key"),
    ("paypal", "paypal_secret"),
    ("plaid", "plaid_secret"),
    ("postmark", "postmark_token"),
    ("pusher", "pusher_secret"),
    ("railway", "railway_token"),
    ("rapidapi", "rapidapi_key"),
    ("rollbar", "rollbar_token"),
    ("scaleway", "scaleway_key"),
    ("segment", "segment_key"),
    ("sendbird", "sendbird_token"),
    ("sentry", "sentry_token"),
    ("shodan", "shodan_key"),
    ("snowflake", "snowflake_password"),
    ("snyk", "snyk_token"),
    ("sonar", "sonar_token"),
    ("splunk", "splunk_token"),
    ("spotify", "spotify_secret"),
    ("sumologic", "sumologic_key"),
    ("telegram", "telegram_token"),
    ("todoist", "todoist_token"),
    ("travis", "travis_token"),
    ("trello", "trello_key"),
    ("twilio", "twilio_auth_token"),
    ("twitch", "twitch_token"),
    ("twitter", "twitter_secret"),
    ("vault", "vault_token"),
    ("wandb", "wandb_key"),
    ("yandex", "yandex_token"),
    ("zendesk", "zendesk_token"),
    ("zoom", "zoom_secret"),
    ("consul", "consul_token"),
    ("djangosecret", "django_secret_key"),
    ("secretkeybase", "rails_secret_key_base"),
    ("railsmaster", "rails_master_key"),
    ("jwt", "jwt_signing_key"),
    ("webhook", "webhook_secret"),
    ("encryption", "encryption_key"),
    ("presharedkey", "wireguard_key"),
    ("phpsessid", "session_cookie"),
    ("jsessionid", "session_cookie"),
    ("connectsid", "session_cookie"),
];

pub(super) fn kinds() -> impl Iterator<Item = &'static str> {
    PROVIDERS.iter().map(|(_, kind)| *kind).chain(["password", "secret", "basic_auth", "seed_phrase"])
}

/// What a name says about its value; nothing for a name like any other.
pub(super) fn classify(raw: &[u8]) -> Option<Name> {
    if raw.is_empty() || raw.len() > NAME_BYTES_MAX {
        return None;
    }
    let all: Vec<u8> = raw.iter().filter(|byte| byte.is_ascii_alphanumeric()).map(u8::to_ascii_lowercase).collect();
    let name = without_qualifiers(&all);
    let ends_with = |words: &[&str]| words.iter().any(|word| name.ends_with(word.as_bytes()));
    if ends_with(HARMLESS) {
        return None;
    }
    let provider = PROVIDERS.iter().find(|(word, _)| judge::holds(name, word.as_bytes())).map(|(_, kind)| *kind);
    let promise = if ends_with(PASSWORDS) || ends_with_word(raw, &["pass", "pw"]) {
        return Some(Name { promise: Promise::Password, kind: "password" });
    } else if name == b"auth" || ends_with(&["authbasic", "basicauth"]) {
        return Some(Name { promise: Promise::Credentials, kind: "basic_auth" });
    } else if ends_with(&["mnemonic", "seedphrase", "recoveryphrase"]) {
        return Some(Name { promise: Promise::Words, kind: "seed_phrase" });
    } else if ends_with(SECRETS_OR_UUIDS) {
        Promise::SecretOrUuid
    } else if ends_with(SECRETS) || ends_with_word(raw, &["pat"]) {
        if provider.is_some() { Promise::SecretOrUuid } else { Promise::Secret }
    } else if name.ends_with(b"key") && name.len() > b"key".len() && is_compound(raw) {
        Promise::Key
    } else {
        return None;
    };
    Some(Name { promise, kind: provider.unwrap_or("secret") })
}

fn without_qualifiers(name: &[u8]) -> &[u8] {
    let name = &name[..name.len() - name.iter().rev().take_while(|byte| byte.is_ascii_digit()).count()];
    let qualifier = QUALIFIERS.iter().find(|it| name.len() > it.len() + 3 && name.ends_with(it.as_bytes()));
    &name[..name.len() - qualifier.map_or(0, |it| it.len())]
}

/// `SMTP_PASS`, `dbPass`, `mail.pw`: too short to be trusted without the edge of a word.
fn ends_with_word(raw: &[u8], words: &[&str]) -> bool {
    words.iter().any(|word| {
        let Some(start) = raw.len().checked_sub(word.len()) else { return false };
        let (before, end) = raw.split_at(start);
        let is_edge = before.last().is_none_or(|byte| {
            !byte.is_ascii_alphanumeric() || byte.is_ascii_lowercase() && end[0].is_ascii_uppercase()
        });
        is_edge && end.eq_ignore_ascii_case(word.as_bytes())
    })
}

/// More than one word: `STRIPE_KEY`, `mapsKey`.
fn is_compound(raw: &[u8]) -> bool {
    let has_separator = raw.iter().any(|byte| b"_-.".contains(byte));
    has_separator || raw.windows(2).any(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_secrets_are_told_from_other_names() {
        for (name, kind) in [
            ("DB_PASSWORD", "password"),
            ("smtp_pass", "password"),
            ("dbPass", "password"),
            ("apiKey", "secret"),
            ("API_KEY_PROD", "secret"),
            ("x-api-key", "secret"),
            ("aws_secret_access_key", "aws_secret_key"),
            ("CLOUDFLARE_API_TOKEN", "cloudflare_key"),
            ("_authToken", "secret"),
            ("MAPS_KEY", "secret"),
        ] {
            assert_eq!(classify(name.as_bytes()).map(|it| it.kind), Some(kind), "{name}");
        }
        for name in
            ["public_key", "key", "monkey", "compass", "tokens", "secretName", "nextPageToken", "bypass", "primary_key"]
        {
            assert_eq!(classify(name.as_bytes()), None, "{name}");
        }
    }
}
