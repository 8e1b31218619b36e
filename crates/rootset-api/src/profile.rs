//! Profiles: which of the operations an MCP server offers as tools. A short list costs a model less attention.
//!
//! Only the list of operations says which operation is in which profile.

use std::collections::BTreeSet;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::catalogue::catalogue;
use crate::operation::OperationInfo;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
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

    /// All of them as text, for help and errors.
    pub fn names() -> String {
        Self::ALL.map(Self::as_str).join(", ")
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

    /// In the order of the catalogue, whatever the order of the profiles.
    pub fn operations(&self) -> impl Iterator<Item = &'static OperationInfo> + '_ {
        catalogue().iter().filter(|operation| self.0.iter().any(|profile| operation.is_in(*profile)))
    }

    pub fn contain(&self, profile: Profile) -> bool {
        self.0.contains(&profile)
    }

    pub fn offer(&self, operation: &str) -> bool {
        self.operations().any(|offered| offered.name == operation)
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
        write!(f, "no profile `{}`; allowed: {}", self.0, Profile::names())
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
        assert!(profiles.offer("add_memory") && profiles.offer("context_add") && !profiles.offer("doctor"));
        assert_eq!(profiles.to_string(), "core,context");
        assert_eq!("core,nonsense".parse::<Profiles>(), Err(UnknownProfile("nonsense".to_owned())));
    }

    #[test]
    fn the_full_profile_holds_the_catalogue_in_its_order() {
        let full = Profiles::new([Profile::Full]);
        let names: Vec<&str> = full.operations().map(|operation| operation.name).collect();
        let all: Vec<&str> = catalogue().iter().map(|operation| operation.name).collect();
        assert_eq!(names, all);
    }

    /// Its answer is a secret, which should not end up in a conversation by chance.
    #[test]
    fn only_the_full_profile_offers_create_token() {
        for profile in Profile::ALL {
            assert_eq!(Profiles::new([profile]).offer("create_token"), profile == Profile::Full, "{profile:?}");
        }
    }
}
