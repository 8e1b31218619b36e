//! Which requests an agent must not make alone: decided here, by the request, for every front end. Rights, questions to a
//! person, annotations and documentation follow from it; none of them decides anything itself.
//!
//! One thing a request does not know: whether the plan that it names erases. Who reads the plan asks with
//! [`Irreversible::PLAN_THAT_ERASES`].

use crate::effect::Effect;

/// Why a request needs a person: an argument of it, or the operation as such.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Irreversible {
    /// The argument that makes it so; `None`: every request of the operation.
    pub argument: Option<&'static str>,
    pub harm: Harm,
}

/// What such a request does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Harm {
    /// Nothing undoes it.
    Permanent,
    /// Undo reverses it for a while, but it takes more than a mistake should be able to take.
    Large,
    /// It hands out rights by which everything else is done without asking anybody: over HTTP a scope is enough.
    Rights,
}

impl Irreversible {
    /// Applying a plan that removes permanently.
    pub const PLAN_THAT_ERASES: Self = Self { argument: Some("plan_id"), harm: Harm::Permanent };

    /// The scope that the request needs beyond the effect of its operation. Who manages the database may do this anyway.
    pub fn scope_beyond(&self, effect: Effect) -> Option<Effect> {
        (self.harm == Harm::Permanent && effect < Effect::Purge).then_some(Effect::Purge)
    }

    /// The end of a sentence that says what an agent wants.
    pub fn in_words(&self) -> &'static str {
        match self.harm {
            Harm::Permanent => "cannot be undone",
            Harm::Large => "can remove more than the limits allow",
            Harm::Rights => "hands out rights that are used without asking a person",
        }
    }
}
