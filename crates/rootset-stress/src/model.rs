//! What the database must hold after what was acknowledged, and the comparison with what it holds.
//!
//! The model is a map from names to states. An acknowledged change moves the state of its memory; a change in flight
//! gives its memory two accepted states. Everything else is a violation.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use crate::protocol::{Change, Outcome};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lifecycle {
    Live,
    Trashed,
}

/// A memory as it must be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expected {
    /// Unknown when only the name was ever heard of.
    pub id: Option<String>,
    pub text: String,
    pub version: i64,
    pub lifecycle: Lifecycle,
}

/// A memory as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    pub id: String,
    /// The newest text, also while its extraction is pending; unknown for a pending memory in the trash.
    pub text: Option<String>,
    /// Unknown for memories in the trash.
    pub version: Option<i64>,
    pub lifecycle: Lifecycle,
    pub is_pending: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Violation {
    /// The state of a memory is none of those that the acknowledgements allow.
    Differs {
        name: String,
        accepted: Vec<Option<Expected>>,
        found: Option<Found>,
    },
    /// The writer was told something else than the model foresaw.
    Answered {
        name: String,
        expected_version: i64,
        answered_version: i64,
    },
    /// Nobody can have done this change.
    Impossible {
        change: Change,
    },
    /// Pending, and nothing will complete it.
    StaysPending {
        name: String,
    },
    Doctor {
        check: String,
        count: i64,
        detail: String,
    },
    /// Something else than a memory that was acknowledged is not there.
    Lost {
        what: &'static str,
        name: String,
    },
    /// An interrupted operation did not end like its uninterrupted twin.
    Twin(String),
    /// The file is not as it should be: journal mode, schema, workspaces.
    File {
        what: &'static str,
        wanted: String,
        found: String,
    },
}

impl Violation {
    /// A purge that was cut short: what is left to do is noted, and the next purge does it (I12).
    pub fn is_debt_of_a_purge(&self) -> bool {
        matches!(self, Self::Doctor { check, .. } if check.contains("I12"))
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Differs { name, accepted, found } => {
                write!(f, "`{name}`: acknowledged {accepted:?}, found {found:?}")
            }
            Self::Answered { name, expected_version, answered_version } => {
                write!(f, "`{name}`: version {answered_version} was answered where {expected_version} follows")
            }
            Self::Impossible { change } => write!(f, "acknowledged a change of what is not there: {change:?}"),
            Self::StaysPending { name } => write!(f, "`{name}` stays pending"),
            Self::Doctor { check, count, detail } => write!(f, "doctor {check}: {count} {detail}"),
            Self::Lost { what, name } => write!(f, "the {what} `{name}` was acknowledged and is not there"),
            Self::Twin(difference) => write!(f, "{difference}"),
            Self::File { what, wanted, found } => write!(f, "{what} is {found}, not {wanted}"),
        }
    }
}

#[derive(Clone, Debug, Default)]
pub struct Model {
    memories: BTreeMap<String, Expected>,
}

impl Model {
    pub fn len(&self) -> usize {
        self.memories.len()
    }

    pub fn is_empty(&self) -> bool {
        self.memories.is_empty()
    }

    pub fn get(&self, name: &str) -> Option<&Expected> {
        self.memories.get(name)
    }

    /// Adds what another writer, of other names, was told.
    pub fn take_over(&mut self, other: &Self) {
        self.memories.extend(other.memories.iter().map(|(name, expected)| (name.clone(), expected.clone())));
    }

    /// Takes over an acknowledged change.
    pub fn acknowledge(&mut self, change: &Change, outcome: &Outcome) -> Result<(), Violation> {
        let name = change.name().to_owned();
        let after = self.after(change).ok_or_else(|| Violation::Impossible { change: change.clone() })?;
        let Some(mut after) = after else {
            self.memories.remove(&name);
            return Ok(());
        };
        if let Some(answered_version) = outcome.version.filter(|version| *version != after.version) {
            return Err(Violation::Answered { name, expected_version: after.version, answered_version });
        }
        after.id = outcome.memory_id.clone().or(after.id);
        self.memories.insert(name, after);
        Ok(())
    }

    /// The state after a change, the inner `None` for a memory that is gone; `None` for a change that makes no sense.
    fn after(&self, change: &Change) -> Option<Option<Expected>> {
        let before = self.memories.get(change.name());
        let lifecycle = before.map(|it| it.lifecycle);
        match (change, lifecycle) {
            (Change::Add { text, .. }, None) => {
                Some(Some(Expected { id: None, text: text.clone(), version: 1, lifecycle: Lifecycle::Live }))
            }
            (Change::Update { text, .. }, Some(Lifecycle::Live)) => {
                Some(before.map(|it| Expected { text: text.clone(), version: it.version + 1, ..it.clone() }))
            }
            (Change::Delete { .. }, Some(Lifecycle::Live)) => {
                Some(before.map(|it| Expected { lifecycle: Lifecycle::Trashed, ..it.clone() }))
            }
            (Change::Undo { .. }, Some(Lifecycle::Trashed)) => {
                Some(before.map(|it| Expected { lifecycle: Lifecycle::Live, ..it.clone() }))
            }
            (Change::Purge { .. }, Some(Lifecycle::Trashed)) => Some(None),
            _ => None,
        }
    }

    /// Compares, and on success takes over which of the changes in flight happened; answers how many did.
    pub fn compare(&mut self, in_flight: &[Change], found: &BTreeMap<String, Found>) -> Result<usize, Vec<Violation>> {
        let mut violations = Vec::new();
        let mut next = BTreeMap::new();
        let mut happened = 0;
        let names: BTreeSet<&String> = self.memories.keys().chain(found.keys()).collect();
        for name in names {
            let mut accepted = vec![self.memories.get(name).cloned()];
            if let Some(change) = in_flight.iter().find(|it| it.name() == name) {
                accepted.extend(self.after(change));
            }
            let found = found.get(name);
            match accepted.iter().position(|state| matches(state.as_ref(), found)) {
                Some(position) => {
                    happened += position;
                    if let (Some(state), Some(found)) = (&accepted[position], found) {
                        next.insert(name.clone(), Expected { id: Some(found.id.clone()), ..state.clone() });
                    }
                }
                None => violations.push(Violation::Differs { name: name.clone(), accepted, found: found.cloned() }),
            }
        }
        if !violations.is_empty() {
            return Err(violations);
        }
        self.memories = next;
        Ok(happened)
    }
}

fn matches(expected: Option<&Expected>, found: Option<&Found>) -> bool {
    match (expected, found) {
        (None, None) => true,
        (Some(expected), Some(found)) => {
            expected.lifecycle == found.lifecycle
                && expected.id.as_ref().is_none_or(|id| *id == found.id)
                && found.text.as_ref().is_none_or(|text| *text == expected.text)
                && found.version.is_none_or(|version| version == expected.version)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn add(name: &str) -> Change {
        Change::Add { name: name.into(), text: format!("text of {name}") }
    }

    fn found(name: &str) -> (String, Found) {
        let text = Some(format!("text of {name}"));
        let id = format!("id of {name}");
        (name.into(), Found { id, text, version: Some(1), lifecycle: Lifecycle::Live, is_pending: false })
    }

    fn model(names: &[&str]) -> Model {
        let mut model = Model::default();
        for name in names {
            model.acknowledge(&add(name), &Outcome::default()).unwrap();
        }
        model
    }

    #[test]
    fn acknowledged_memory_that_is_missing_is_a_violation() {
        let violations = model(&["a", "b"]).compare(&[], &BTreeMap::from([found("a")])).unwrap_err();
        assert!(matches!(violations.as_slice(), [Violation::Differs { name, .. }] if name == "b"), "{violations:?}");
    }

    #[test]
    fn memory_that_nobody_wrote_is_a_violation() {
        let violations = model(&["a"]).compare(&[], &BTreeMap::from([found("a"), found("b")])).unwrap_err();
        assert!(matches!(violations.as_slice(), [Violation::Differs { name, .. }] if name == "b"), "{violations:?}");
    }

    #[test]
    fn change_in_flight_is_accepted_whether_it_happened_or_not() {
        assert_eq!(model(&["a"]).compare(&[add("b")], &BTreeMap::from([found("a")])), Ok(0));
        assert_eq!(model(&["a"]).compare(&[add("b")], &BTreeMap::from([found("a"), found("b")])), Ok(1));
        let delete = Change::Delete { name: "a".into() };
        let (name, mut trashed) = found("a");
        trashed.lifecycle = Lifecycle::Trashed;
        assert_eq!(model(&["a"]).compare(std::slice::from_ref(&delete), &BTreeMap::from([(name, trashed)])), Ok(1));
        assert_eq!(model(&["a"]).compare(&[delete], &BTreeMap::from([found("a")])), Ok(0));
    }

    #[test]
    fn half_an_update_is_a_violation() {
        let update = Change::Update { name: "a".into(), text: "new".into() };
        let (name, mut half) = found("a");
        half.version = Some(2);
        assert!(model(&["a"]).compare(&[update], &BTreeMap::from([(name, half)])).is_err());
    }

    #[test]
    fn what_happened_in_flight_is_part_of_the_next_round() {
        let mut model = model(&[]);
        model.compare(&[add("a")], &BTreeMap::from([found("a")])).unwrap();
        assert!(model.compare(&[], &BTreeMap::new()).is_err());
    }
}
