//! Profiles: which of the operations a server offers as tools. A short list costs a model less attention.

use std::collections::BTreeSet;
use std::str::FromStr;

use rootset_service::{OperationInfo, catalogue};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Profile {
    /// Remember, find, correct, forget and clean up; find code.
    Core,
    /// The agent's own context window.
    Context,
    /// The code index.
    Code,
    /// The collector in detail, backups, retention, audit, workspaces, tokens.
    Admin,
    /// Everything.
    Full,
}

const CORE: &[&str] = &[
    "add_memory",
    "search_memory",
    "get_memory",
    "update_memory",
    "delete_memory",
    "forget",
    "prune_memory",
    "gc_apply",
    "gc_undo",
    "index_codebase",
    "search_code",
];

const CODE: &[&str] = &["index_codebase", "search_code", "get_symbol", "get_callers", "get_callees", "list_repos"];

const ADMIN: &[&str] = &[
    "gc_plan",
    "get_plan",
    "gc_apply",
    "gc_undo",
    "gc_purge",
    "gc_explain",
    "gc_status",
    "list_trash",
    "list_audit",
    "set_retention",
    "get_retention",
    "backup_create",
    "backup_list",
    "backup_verify",
    "backup_restore",
    "defrag",
    "doctor",
    "get_stats",
    "create_workspace",
    "list_workspaces",
    "delete_workspace",
    "create_token",
    "list_tokens",
    "revoke_token",
];

const CONTEXT_PREFIX: &str = "context_";

impl Profile {
    pub const ALL: [Self; 5] = [Self::Core, Self::Context, Self::Code, Self::Admin, Self::Full];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Core => "core",
            Self::Context => "context",
            Self::Code => "code",
            Self::Admin => "admin",
            Self::Full => "full",
        }
    }

    pub fn holds(self, operation: &str) -> bool {
        match self {
            Self::Core => CORE.contains(&operation),
            Self::Context => operation.starts_with(CONTEXT_PREFIX),
            Self::Code => CODE.contains(&operation),
            Self::Admin => ADMIN.contains(&operation),
            Self::Full => true,
        }
    }
}

/// One or several, as `--profile context,core` gives them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profiles(BTreeSet<Profile>);

impl Profiles {
    /// None at all stands for the default.
    pub fn new(profiles: impl IntoIterator<Item = Profile>) -> Self {
        let profiles: BTreeSet<Profile> = profiles.into_iter().collect();
        if profiles.is_empty() { Self::default() } else { Self(profiles) }
    }

    pub fn holds(&self, operation: &str) -> bool {
        self.0.iter().any(|profile| profile.holds(operation))
    }

    /// In the order of the catalogue, whatever the order of the profiles.
    pub fn operations(&self) -> impl Iterator<Item = &'static OperationInfo> + '_ {
        catalogue().iter().filter(|operation| self.holds(operation.name))
    }
}

impl Default for Profiles {
    fn default() -> Self {
        Self(BTreeSet::from([Profile::Core]))
    }
}

impl std::fmt::Display for Profiles {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names: Vec<&str> = self.0.iter().map(|profile| profile.as_str()).collect();
        f.write_str(&names.join(","))
    }
}

/// A word that names no profile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownProfile(pub String);

impl std::fmt::Display for UnknownProfile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let allowed: Vec<&str> = Profile::ALL.iter().map(|profile| profile.as_str()).collect();
        write!(f, "no profile `{}`; allowed: {}", self.0, allowed.join(", "))
    }
}

impl std::error::Error for UnknownProfile {}

impl FromStr for Profile {
    type Err = UnknownProfile;

    fn from_str(text: &str) -> Result<Self, UnknownProfile> {
        let named = Self::ALL.into_iter().find(|profile| profile.as_str() == text);
        named.ok_or_else(|| UnknownProfile(text.to_owned()))
    }
}

impl FromStr for Profiles {
    type Err = UnknownProfile;

    fn from_str(text: &str) -> Result<Self, UnknownProfile> {
        let profiles: Result<BTreeSet<Profile>, _> = text.split(',').map(|word| word.trim().parse()).collect();
        Ok(Self::new(profiles?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn profiles_are_read_from_words_with_commas() {
        let profiles: Profiles = "context, core".parse().expect("two profiles");
        assert!(profiles.holds("add_memory") && profiles.holds("context_add") && !profiles.holds("doctor"));
        assert_eq!(profiles.to_string(), "core,context");
        assert_eq!("core,nonsense".parse::<Profiles>(), Err(UnknownProfile("nonsense".to_owned())));
    }

    /// A typing error would hide a tool.
    #[test]
    fn profiles_name_operations_that_exist() {
        let exists = |name: &&&str| catalogue().iter().any(|operation| operation.name == **name);
        for list in [CORE, CODE, ADMIN] {
            let missing: Vec<_> = list.iter().filter(|name| !exists(name)).collect();
            assert!(missing.is_empty(), "{missing:?}");
        }
    }

    #[test]
    fn the_full_profile_holds_the_catalogue_in_its_order() {
        let full = Profiles::new([Profile::Full]);
        let names: Vec<&str> = full.operations().map(|operation| operation.name).collect();
        let all: Vec<&str> = catalogue().iter().map(|operation| operation.name).collect();
        assert_eq!(names, all);
    }
}
