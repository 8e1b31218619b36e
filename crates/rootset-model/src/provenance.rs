//! Where a text came from, and how far it is believed. Both are set by the front end; a request can only lower its trust.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The door by which a memory came in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Channel {
    Cli,
    Mcp,
    Http,
    Hook,
    Index,
    Import,
}

/// Who answers for a text, from the least to the most: a person who wrote or approved it, an agent, the file that it was
/// imported or indexed from, or nobody.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Trust {
    Untrusted,
    Imported,
    Agent,
    Person,
}

/// For whom a memory is pinned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PinnedBy {
    Person,
    Agent,
}

/// What a front end says of everything it hands on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin {
    pub channel: Channel,
    pub trust: Trust,
    /// A person was asked about this very request and agreed. It stays the agent's request: nothing of it becomes the person's.
    pub has_consent: bool,
}

impl Channel {
    pub const ALL: [Self; 6] = [Self::Cli, Self::Mcp, Self::Http, Self::Hook, Self::Index, Self::Import];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Cli => "cli",
            Self::Mcp => "mcp",
            Self::Http => "http",
            Self::Hook => "hook",
            Self::Index => "index",
            Self::Import => "import",
        }
    }

    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.as_str() == word)
    }
}

impl Trust {
    pub const ALL: [Self; 4] = [Self::Untrusted, Self::Imported, Self::Agent, Self::Person];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Untrusted => "untrusted",
            Self::Imported => "imported",
            Self::Agent => "agent",
            Self::Person => "person",
        }
    }

    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.as_str() == word)
    }

    /// Found when asked for, marked, and never shown to anybody who did not ask.
    pub fn is_quarantined(self) -> bool {
        self == Self::Untrusted
    }
}

impl PinnedBy {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Person => "person",
            Self::Agent => "agent",
        }
    }

    pub fn from_word(word: &str) -> Option<Self> {
        [Self::Person, Self::Agent].into_iter().find(|it| it.as_str() == word)
    }
}

impl Origin {
    /// Whether it may change what a person holds by a pin.
    pub fn acts_for_person(self) -> bool {
        self.trust == Trust::Person || self.has_consent
    }

    /// Only people pin for people.
    pub fn pinned_by(self) -> PinnedBy {
        match self.trust {
            Trust::Person => PinnedBy::Person,
            Trust::Agent | Trust::Imported | Trust::Untrusted => PinnedBy::Agent,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read_as_they_are_written() {
        assert!(Channel::ALL.iter().all(|it| Channel::from_word(it.as_str()) == Some(*it)));
        assert!(Trust::ALL.iter().all(|it| Trust::from_word(it.as_str()) == Some(*it)));
        assert!([PinnedBy::Person, PinnedBy::Agent].iter().all(|it| PinnedBy::from_word(it.as_str()) == Some(*it)));
        assert_eq!((Channel::from_word("CLI"), Trust::from_word("")), (None, None));
    }

    #[test]
    fn people_are_trusted_most_and_strangers_least() {
        assert!(Trust::ALL.is_sorted());
        assert_eq!(Trust::ALL.into_iter().filter(|it| it.is_quarantined()).collect::<Vec<_>>(), [Trust::Untrusted]);
    }
}
