//! Every key, listed once: checking, the environment, `config show` and `config example` all read this table.

use rootset_model::names::check_workspace_id;
use rootset_service::{DrainMode, SecretPolicy};

/// What a key's value may be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    Text,
    Database,
    Workspace,
    /// An IP address and a port.
    Address,
    /// Names without scheme, port or path.
    Hosts,
    Url,
    Variable,
    Choice(&'static [&'static str]),
    Switch,
    DurationMs {
        min: i64,
        max: i64,
    },
    /// A duration, or `off`.
    DurationMsOrOff {
        min: i64,
        max: i64,
    },
    Number {
        min: f64,
        max: f64,
    },
    Count {
        min: i64,
    },
    TextList,
    /// A list of names of strategies.
    Strategies,
    /// One field of a policy of retention, named by the last part of the key: the policy's own parser decides.
    Retention,
}

#[derive(Debug)]
pub struct Key {
    /// Dotted; [`ANY_NAME`] stands for the id of any workspace, or any class.
    pub path: &'static str,
    pub kind: Kind,
    pub value: Value,
    /// For people; one line.
    pub about: &'static str,
}

/// What is in force when nobody sets the key, in TOML.
#[derive(Clone, Copy, Debug)]
pub enum Value {
    Default(&'static str),
    /// No default; this is what one could look like.
    Unset {
        example: &'static str,
    },
}

impl Key {
    /// The section of the names, where there may be one such key for every name: `gc.workspaces` or `gc.classes`.
    pub fn named_section(&self) -> Option<&'static str> {
        self.path.split_once(".*.").map(|(section, _)| section)
    }

    pub fn path_of(&self, name: &str) -> String {
        self.path.replace(ANY_NAME, name)
    }

    /// The path for people, who put a name where the table has its mark.
    pub fn written(&self) -> String {
        self.path_of("NAME")
    }

    #[expect(clippy::disallowed_types, reason = "settings have values of any type")]
    pub fn default_value(&self) -> serde_json::Value {
        match self.value {
            // The defaults of the table are also JSON; a test holds that.
            Value::Default(toml) => serde_json::from_str(toml).unwrap_or(serde_json::Value::Null),
            Value::Unset { .. } => serde_json::Value::Null,
        }
    }
}

/// The part of a path that the id of any workspace may take, or any class, which is written the same way.
const ANY_NAME: &str = "*";

const DAY_MS: i64 = 86_400_000;
const YEARS_TEN_MS: i64 = 3_650 * DAY_MS;
/// More often than this, the scheduler would do nothing but look at the clock.
const INTERVAL_MS_MIN: i64 = 1_000;
/// A model's answer must come within the lease on a pending memory.
const TIMEOUT_MS_MAX: i64 = 200_000;
/// A request that may take longer than this should be several.
const SERVER_TIMEOUT_MS_MAX: i64 = DAY_MS;
const SERVER_TIMEOUT: Kind = Kind::DurationMs { min: 1, max: SERVER_TIMEOUT_MS_MAX };
const PERCENT: Kind = Kind::Number { min: 0.0, max: 100.0 };
const TIMEOUT: Kind = Kind::DurationMs { min: 1, max: TIMEOUT_MS_MAX };

/// The keys of one policy of retention.
macro_rules! retention_keys {
    ($section:literal, $max_age:literal) => {
        &[
            Key {
                path: concat!($section, ".max_age"),
                kind: Kind::Retention,
                value: Value::Unset { example: r#""90d""# },
                about: $max_age,
            },
            Key {
                path: concat!($section, ".max_count"),
                kind: Kind::Retention,
                value: Value::Unset { example: "1000" },
                about: "of each source and repository, memories beyond this many newest are expired",
            },
            Key {
                path: concat!($section, ".max_version_gap"),
                kind: Kind::Retention,
                value: Value::Unset { example: "3" },
                about: "memories this many versions behind the newest of their source and repository are expired",
            },
            Key {
                path: concat!($section, ".min_keep"),
                kind: Kind::Retention,
                value: Value::Unset { example: "10" },
                about: "this many of the newest always stay; unset: 0",
            },
            Key {
                path: concat!($section, ".keep_within"),
                kind: Kind::Retention,
                value: Value::Unset { example: r#""7d""# },
                about: "memories younger than this never expire; unset: 0",
            },
            Key {
                path: concat!($section, ".basis"),
                kind: Kind::Retention,
                value: Value::Unset { example: r#""last_used_at""# },
                about: "the time that age counts from: `ingested_at` or `last_used_at`; unset: `ingested_at`",
            },
            Key {
                path: concat!($section, ".may_empty"),
                kind: Kind::Retention,
                value: Value::Unset { example: "true" },
                about: "scheduled runs may take the last memory of a source too; unset: false",
            },
            Key {
                path: concat!($section, ".final"),
                kind: Kind::Retention,
                value: Value::Unset { example: "true" },
                about: "a legal period: what has expired is erased when it is purged, and no restore brings it back; unset: false",
            },
        ]
    };
}

/// In the order of `config example`: keys without a section first, sections together.
const GROUPS: &[&[Key]] = &[
    BEFORE_RETENTION,
    retention_keys!("gc.retention", "memories older than this are expired"),
    OF_WORKSPACES,
    retention_keys!("gc.workspaces.*.retention", "a table that replaces `gc.retention` as a whole in this workspace"),
    OF_CLASSES,
    retention_keys!("gc.classes.*.retention", "a table that replaces `gc.retention` as a whole in this class"),
    AFTER_RETENTION,
];

/// Every key.
pub fn all() -> impl Iterator<Item = &'static Key> {
    GROUPS.iter().copied().flatten()
}

const BEFORE_RETENTION: &[Key] = &[
    Key {
        path: "db",
        kind: Kind::Database,
        value: Value::Unset { example: r#""/home/alice/memory.db""# },
        about: "database: a path, `sqlite:PATH` or `postgres://USER@HOST/NAME`; unset: rootset/rootset.db in the XDG data folder",
    },
    Key {
        path: "workspace",
        kind: Kind::Workspace,
        value: Value::Unset { example: r#""team""# },
        about: "the workspace of commands and agents that name none; unset: that of the project around the working folder, or `home`",
    },
    Key {
        path: "postgres.pool_size",
        kind: Kind::Count { min: 1 },
        value: Value::Default("8"),
        about: "the most connections of one process to a PostgreSQL server",
    },
    Key {
        path: "postgres.statement_timeout",
        kind: SERVER_TIMEOUT,
        value: Value::Default(r#""30s""#),
        about: "how long one statement of a reader may take there; writers have ten times as long",
    },
    Key {
        path: "postgres.connect_timeout",
        kind: SERVER_TIMEOUT,
        value: Value::Default(r#""10s""#),
        about: "how long to wait for a connection to that server",
    },
    Key {
        path: "server.listen",
        kind: Kind::Address,
        value: Value::Default(r#""127.0.0.1:7654""#),
        about: "where `rootset serve` listens",
    },
    Key {
        path: "server.hosts",
        kind: Kind::Hosts,
        value: Value::Default("[]"),
        about: "host names the server answers to, besides those of the loopback; others are refused",
    },
    Key {
        path: "server.max_body",
        kind: Kind::Count { min: 1 },
        value: Value::Default("67108864"),
        about: "the most bytes of one request that carries many things at once; others have 8 MiB",
    },
    Key {
        path: "server.max_requests",
        kind: Kind::Count { min: 1 },
        value: Value::Default("256"),
        about: "the most requests at the same time; callers beyond it are told to try again",
    },
    Key {
        path: "server.max_requests_per_token",
        kind: Kind::Count { min: 1 },
        value: Value::Default("64"),
        about: "the most requests of one token at the same time, and as many event streams",
    },
    Key {
        path: "server.max_requests_per_address",
        kind: Kind::Count { min: 1 },
        value: Value::Default("16"),
        about: "the most requests without a token that one address may have running",
    },
    Key {
        path: "server.max_connections",
        kind: Kind::Count { min: 1 },
        value: Value::Default("1024"),
        about: "the most open connections; one more closes the one that is idle the longest",
    },
    Key {
        path: "server.max_connections_per_address",
        kind: Kind::Count { min: 1 },
        value: Value::Default("256"),
        about: "the most open connections of one address, loopback included; raise it behind a proxy",
    },
    Key {
        path: "server.max_wrong_tokens_per_minute",
        kind: Kind::Count { min: 1 },
        value: Value::Default("60"),
        about: "wrong tokens that one address may try per minute",
    },
    Key {
        path: "server.max_sessions",
        kind: Kind::Count { min: 1 },
        value: Value::Default("512"),
        about: "the most MCP sessions; one more ends the least recently used one",
    },
    Key {
        path: "server.max_sessions_per_token",
        kind: Kind::Count { min: 1 },
        value: Value::Default("64"),
        about: "the most MCP sessions of one token",
    },
    Key {
        path: "server.session_timeout",
        kind: SERVER_TIMEOUT,
        value: Value::Default(r#""5m""#),
        about: "how long an MCP session is kept that nobody uses",
    },
    Key {
        path: "server.read_timeout",
        kind: SERVER_TIMEOUT,
        value: Value::Default(r#""30s""#),
        about: "time to receive a request's head, and again its body; time in which a client takes nothing of its answer; \
                also how long an idle connection is kept",
    },
    Key {
        path: "server.request_timeout",
        kind: SERVER_TIMEOUT,
        value: Value::Default(r#""5m""#),
        about: "how long a caller is kept waiting for an answer",
    },
    Key {
        path: "server.shutdown_timeout",
        kind: SERVER_TIMEOUT,
        value: Value::Default(r#""30s""#),
        about: "how long running requests may continue after the server was told to stop",
    },
    Key {
        path: "gc.enabled",
        kind: Kind::Switch,
        value: Value::Default("false"),
        about: "main switch of the scheduler, in `rootset daemon` and `rootset serve`",
    },
    Key {
        path: "gc.interval",
        kind: Kind::DurationMs { min: INTERVAL_MS_MIN, max: YEARS_TEN_MS },
        value: Value::Default(r#""24h""#),
        about: "time between two runs of the scheduler, across restarts",
    },
    Key {
        path: "gc.auto_delete",
        kind: Kind::Switch,
        value: Value::Default("false"),
        about: "move what is garbage to the trash; false: only report it",
    },
    Key {
        path: "gc.drain",
        kind: Kind::Choice(&DrainMode::WORDS),
        value: Value::Default(r#""announce""#),
        about: "what happens to a source with more garbage than one plan may take: `announce` (begins one interval later), `at once` or `never`",
    },
    Key {
        path: "gc.strategies",
        kind: Kind::Strategies,
        value: Value::Default(r#"["stale_code", "expired", "superseded"]"#),
        about: "what a scheduled run looks for: names of strategies, or `all`",
    },
    Key {
        path: "gc.defrag_threshold",
        kind: Kind::Number { min: 0.0, max: 1.0 },
        value: Value::Default("0.1"),
        about: "share of chunks purged since the last defragmentation above which one is recommended; 0: never",
    },
    Key {
        path: "gc.auto_defrag",
        kind: Kind::Switch,
        value: Value::Default("false"),
        about: "defragment when it is recommended and nothing else is going on",
    },
    Key {
        path: "gc.grace",
        kind: Kind::DurationMs { min: 0, max: YEARS_TEN_MS },
        value: Value::Default(r#""7d""#),
        about: "how long trash can be undone",
    },
    Key {
        path: "gc.purge_trash",
        kind: Kind::Switch,
        value: Value::Default("true"),
        about: "remove trash for good when its grace is over, scheduler or not",
    },
    Key {
        path: "gc.time_limit_ms",
        kind: Kind::Count { min: 1 },
        value: Value::Unset { example: "60000" },
        about: "a scheduled run stops after this many milliseconds and continues the next time; unset: no limit",
    },
];

const OF_WORKSPACES: &[Key] = &[
    Key {
        path: "gc.workspaces.*.auto_delete",
        kind: Kind::Switch,
        value: Value::Unset { example: "true" },
        about: "overrides `gc.auto_delete` in this workspace",
    },
    Key {
        path: "gc.workspaces.*.drain",
        kind: Kind::Choice(&DrainMode::WORDS),
        value: Value::Unset { example: r#""never""# },
        about: "overrides `gc.drain` in this workspace",
    },
];

/// Settings of a class apply to its workspaces unless they have their own.
const OF_CLASSES: &[Key] = &[
    Key {
        path: "gc.classes.*.auto_delete",
        kind: Kind::Switch,
        value: Value::Unset { example: "true" },
        about: "overrides `gc.auto_delete` in workspaces of this class",
    },
    Key {
        path: "gc.classes.*.drain",
        kind: Kind::Choice(&DrainMode::WORDS),
        value: Value::Unset { example: r#""at once""# },
        about: "overrides `gc.drain` in workspaces of this class",
    },
    Key {
        path: "gc.classes.*.quota.memories",
        kind: Kind::Count { min: 1 },
        value: Value::Unset { example: "10000" },
        about: "how many memories a new workspace of this class may store; unset: no limit",
    },
    Key {
        path: "gc.classes.*.quota.bytes",
        kind: Kind::Count { min: 1 },
        value: Value::Unset { example: "100000000" },
        about: "how many bytes of text a new workspace of this class may store; unset: no limit",
    },
];

const AFTER_RETENTION: &[Key] = &[
    Key {
        path: "backup.dir",
        kind: Kind::Text,
        value: Value::Unset { example: r#""/var/backups/rootset""# },
        about: "folder of backups; unset: the path of the database plus `.backups`; none on PostgreSQL",
    },
    Key {
        path: "backup.interval",
        kind: Kind::DurationMsOrOff { min: INTERVAL_MS_MIN, max: YEARS_TEN_MS },
        value: Value::Default(r#""24h""#),
        about: "time between two automatic backups; `off`, the default on PostgreSQL: none",
    },
    Key {
        path: "backup.keep_last",
        kind: Kind::Count { min: 1 },
        value: Value::Default("3"),
        about: "this many of the newest backups stay, however old",
    },
    Key {
        path: "backup.max_age",
        kind: Kind::DurationMs { min: 1, max: YEARS_TEN_MS },
        value: Value::Default(r#""7d""#),
        about: "other backups older than this are removed",
    },
    Key {
        path: "events.file",
        kind: Kind::Text,
        value: Value::Unset { example: r#""/var/log/rootset/events.jsonl""# },
        about: "file that gets a line of JSON for each event; only its owner can read it",
    },
    Key {
        path: "events.webhook.url",
        kind: Kind::Url,
        value: Value::Unset { example: r#""https://ops.example.org/rootset""# },
        about: "URL that gets a signed POST request for each event",
    },
    Key {
        path: "events.webhook.secret_env",
        kind: Kind::Variable,
        value: Value::Unset { example: r#""ROOTSET_WEBHOOK_SECRET""# },
        about: "environment variable that holds the secret for the signatures; secrets are never read from files",
    },
    Key {
        path: "limits.plan_fraction_max",
        kind: Kind::Number { min: 0.0, max: 1.0 },
        value: Value::Default("0.2"),
        about: "the largest share of one source's memories that a plan may trash without `allow_large`",
    },
    Key {
        path: "limits.plan_count_free",
        kind: Kind::Count { min: 0 },
        value: Value::Default("5"),
        about: "up to this many memories the share does not matter",
    },
    Key {
        path: "memory.keep_revisions",
        kind: Kind::Count { min: 0 },
        value: Value::Default("20"),
        about: "earlier revisions kept per memory",
    },
    Key {
        path: "memory.untrusted_sources",
        kind: Kind::TextList,
        value: Value::Default("[]"),
        about: "sources whose memories nobody answers for: they are found by search and never shown unasked",
    },
    Key {
        path: "memory.secrets",
        kind: Kind::Choice(&SecretPolicy::WORDS),
        value: Value::Default(r#""redact""#),
        about: "what to do with values that look like secrets: `redact` them, `refuse` the request, or store them and `warn`",
    },
    Key {
        path: "memory.personal_data",
        kind: Kind::Switch,
        value: Value::Default("false"),
        about: "treat payment cards, IBANs and US social security numbers like secrets",
    },
    Key {
        path: "extract.provider",
        kind: Kind::Choice(&["builtin", "openai"]),
        value: Value::Default(r#""builtin""#),
        about: "who finds entities and relations: `builtin` rules, or a model behind an `openai`-compatible endpoint",
    },
    Key {
        path: "extract.base_url",
        kind: Kind::Url,
        value: Value::Unset { example: r#""http://localhost:11434/v1""# },
        about: "the URL that `/chat/completions` is appended to",
    },
    Key {
        path: "extract.model",
        kind: Kind::Text,
        value: Value::Unset { example: r#""qwen3:8b""# },
        about: "name of the model at that endpoint",
    },
    Key {
        path: "extract.api_key_env",
        kind: Kind::Variable,
        value: Value::Unset { example: r#""OPENAI_API_KEY""# },
        about: "environment variable that holds the key; keys are never read from files",
    },
    Key { path: "extract.timeout", kind: TIMEOUT, value: Value::Default(r#""60s""#), about: "time for one attempt" },
    Key {
        path: "embed.provider",
        kind: Kind::Choice(&["none", "openai", "static", "local"]),
        value: Value::Default(r#""none""#),
        about: "vectors for search: `none`, an `openai`-compatible endpoint, a `static` table on disk, or a `local` model that \
                runs inside Rootset",
    },
    Key {
        path: "embed.base_url",
        kind: Kind::Url,
        value: Value::Unset { example: r#""http://localhost:11434/v1""# },
        about: "the URL that `/embeddings` is appended to",
    },
    Key {
        path: "embed.model",
        kind: Kind::Text,
        value: Value::Unset { example: r#""nomic-embed-text""# },
        about: "name of the model at that endpoint, or of a local model in `rootset model list`; unset: all-minilm-l6-v2",
    },
    Key {
        path: "embed.api_key_env",
        kind: Kind::Variable,
        value: Value::Unset { example: r#""OPENAI_API_KEY""# },
        about: "environment variable that holds the key",
    },
    Key {
        path: "embed.path",
        kind: Kind::Text,
        value: Value::Unset { example: r#""/opt/models/potion-base-8M""# },
        about: "folder of a static table or a local model: model.safetensors, tokenizer.json and what came with them",
    },
    Key { path: "embed.timeout", kind: TIMEOUT, value: Value::Default(r#""60s""#), about: "time for one attempt" },
    Key {
        path: "models.hub",
        kind: Kind::Url,
        value: Value::Default(r#""https://huggingface.co""#),
        about: "the URL below which `rootset model get` looks for models; a mirror has the same paths",
    },
    Key {
        path: "code.roots",
        kind: Kind::TextList,
        value: Value::Unset { example: r#"["/home/alice/projects"]"# },
        about: "servers index only below these folders; unset: `rootset serve` none, `rootset mcp` the working folder, unless it \
                is / or the home folder",
    },
    Key {
        path: "code.exclude",
        kind: Kind::TextList,
        value: Value::Default("[]"),
        about: "patterns of files that the code index leaves out, as in an ignore file",
    },
    Key {
        path: "code.max_file_size",
        kind: Kind::Count { min: 1 },
        value: Value::Default("1048576"),
        about: "files with more bytes than this are left out of the code index",
    },
    Key {
        path: "code.freshen_ms",
        kind: Kind::Count { min: 0 },
        value: Value::Default("300"),
        about: "milliseconds that a question about code waits until its repositories are up to date; 0: nothing is looked at",
    },
    Key {
        path: "code.stale_kept",
        kind: Kind::DurationMs { min: 0, max: YEARS_TEN_MS },
        value: Value::Default(r#""30d""#),
        about: "how long the scheduler keeps files that are gone from their repository; `prune` takes them at once",
    },
    Key {
        path: "code.workspaces.*.roots",
        kind: Kind::TextList,
        value: Value::Unset { example: r#"["/srv/team-a"]"# },
        about: "replaces `code.roots` in this workspace",
    },
    Key {
        path: "hooks.exclude",
        kind: Kind::TextList,
        value: Value::Default("[]"),
        about: "folders in which hooks do nothing, such as `~/clients/**`",
    },
    Key {
        path: "context.budget_tokens",
        kind: Kind::Count { min: 1 },
        value: Value::Default("200000"),
        about: "tokens in the model's window, for sessions that do not set it",
    },
    Key {
        path: "context.reserved_tokens",
        kind: Kind::Count { min: 0 },
        value: Value::Default("0"),
        about: "the part of the budget kept free for answers",
    },
    Key {
        path: "context.soft_percent",
        kind: PERCENT,
        value: Value::Default("70"),
        about: "the soft limit: above it, some of the oldest segments leave the window",
    },
    Key {
        path: "context.target_percent",
        kind: PERCENT,
        value: Value::Default("50"),
        about: "the target: above the hard limit, segments leave down to it",
    },
    Key {
        path: "context.hard_percent",
        kind: PERCENT,
        value: Value::Default("90"),
        about: "the hard limit: above it, every segment is considered",
    },
    Key {
        path: "context.min_free_percent",
        kind: PERCENT,
        value: Value::Default("10"),
        about: "the least that a collection frees",
    },
    Key {
        path: "context.mode",
        kind: Kind::Choice(&["auto", "advise"]),
        value: Value::Default(r#""auto""#),
        about: "`advise`: nothing leaves a window automatically; answers contain a plan",
    },
    Key {
        path: "context.recent_segments",
        kind: Kind::Count { min: 0 },
        value: Value::Default("10"),
        about: "the number of newest segments that always stay",
    },
    Key {
        path: "context.decision_window",
        kind: Kind::DurationMs { min: 0, max: YEARS_TEN_MS },
        value: Value::Default(r#""1h""#),
        about: "how long a decision always stays",
    },
    Key {
        path: "context.birth",
        kind: Kind::Choice(&["off", "safe"]),
        value: Value::Default(r#""off""#),
        about: "`safe`: a result of an agent's tool that stands in its window already becomes a pointer; then `rootset install` again",
    },
    Key {
        path: "context.tokenizer",
        kind: Kind::Choice(&["o200k", "cl100k", "chars/4"]),
        value: Value::Default(r#""o200k""#),
        about: "how tokens are counted; `chars/4` needs no table",
    },
    Key {
        path: "context.stash_retention",
        kind: Kind::DurationMs { min: 0, max: YEARS_TEN_MS },
        value: Value::Default(r#""30d""#),
        about: "how long something stays in the stash before a plan may propose to delete it",
    },
];

/// What a file in the working folder may set: a cloned repository must not redirect models or turn deletion on.
pub const WORKING_FOLDER_KEYS: &[&str] = &["workspace", "code.exclude"];

pub fn find(path: &str) -> Option<&'static Key> {
    all().find(|key| matched_parts(key, path) == Some(0))
}

/// Whether keys live under this name.
pub fn is_section(path: &str) -> bool {
    all().any(|key| matched_parts(key, path).is_some_and(|left| left > 0))
}

/// How many parts of the key are left when the path is taken as its beginning; `None` when it is not.
fn matched_parts(key: &Key, path: &str) -> Option<usize> {
    let mut parts = key.path.split('.');
    for given in path.split('.') {
        let is_match = match parts.next()? {
            ANY_NAME => check_workspace_id(given).is_ok(),
            part => part == given,
        };
        if !is_match {
            return None;
        }
    }
    Some(parts.count())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_default_and_example_is_json_too() {
        for key in all() {
            let (Value::Default(text) | Value::Unset { example: text }) = key.value;
            assert!(serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok(), "{}: {text}", key.path);
        }
    }

    #[test]
    fn sections_stand_together() {
        let mut seen: Vec<&str> = Vec::new();
        for key in all() {
            let section = key.path.rsplit_once('.').map_or("", |(section, _)| section);
            if seen.last() != Some(&section) {
                assert!(!seen.contains(&section), "{section} is in two places");
                seen.push(section);
            }
        }
    }

    #[test]
    fn workspaces_and_classes_have_keys_of_their_own() {
        let found = |path: &str| find(path).map(|key| key.path);
        assert_eq!(found("gc.workspaces.team-a.auto_delete"), Some("gc.workspaces.*.auto_delete"));
        assert_eq!(found("gc.classes.pro.quota.memories"), Some("gc.classes.*.quota.memories"));
        assert_eq!(found("gc.workspaces.team-a.retention"), None);
        assert_eq!(found("gc.workspaces.Team A.auto_delete"), None);
        assert!(is_section("gc.workspaces.team-a.retention") && is_section("gc.workspaces.team-a"));
        assert!(!is_section("gc.workspaces.team-a.auto_delete") && !is_section("gc.grace.x"));
    }
}
