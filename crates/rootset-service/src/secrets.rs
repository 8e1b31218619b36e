//! The border for secrets: every string of a writing request is looked at before the request is carried out.
//!
//! The strings are found by serialising the request, so a new operation or field is covered without a line here. What happens to
//! a finding depends on the policy and on the field (`fields.rs`): text is redacted, a name is refused, and what is only looked up
//! is left alone, because somebody may want to forget a secret by its value. No message holds a value.
//!
//! Not here: indexed files, which never come in a request (`indexing/read.rs`), and what was stored before (`scanning`).

mod answering;
mod fields;
mod redacting;
pub(crate) mod scanning;
mod strings;

use rootset_api::Request;
use rootset_text::secrets::SecretScan;

use crate::caller::Caller;
use crate::error::ServiceError;
use fields::Use;
use strings::Step;

pub(crate) use answering::add_to;
pub(crate) use redacting::redact_free_value;

/// What to do about values that look like secrets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SecretPolicy {
    /// Store `[redacted:<kind>]` instead.
    #[default]
    Redact,
    /// Refuse the request.
    Refuse,
    /// Store the value, and say so.
    Warn,
}

impl SecretPolicy {
    pub const WORDS: [&'static str; 3] = ["redact", "refuse", "warn"];

    pub fn from_word(word: &str) -> Option<Self> {
        [Self::Redact, Self::Refuse, Self::Warn].into_iter().zip(Self::WORDS).find(|it| it.1 == word).map(|it| it.0)
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SecretSettings {
    pub policy: SecretPolicy,
    /// Whether payment cards, IBANs and social security numbers count as secrets.
    pub personal_data: bool,
}

impl SecretSettings {
    pub(crate) fn scan(self) -> SecretScan {
        SecretScan { personal_data: self.personal_data }
    }
}

/// What was found in a request that was carried out nevertheless.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Notes {
    /// The values that were redacted: each with the item of a batch that it was in.
    pub(crate) redacted: Vec<Option<usize>>,
    /// What was stored although it looks like a secret.
    pub(crate) warnings: Vec<String>,
}

impl Notes {
    /// The number of values that looked like secrets and were not stored.
    pub fn redacted(&self) -> usize {
        self.redacted.len()
    }

    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.redacted.is_empty() && self.warnings.is_empty()
    }
}

/// The caller under a name without a secret in it; `None` if there is none in it, as nearly always. A client names itself.
pub(crate) fn clean_actor(caller: &Caller, settings: SecretSettings) -> Option<Caller> {
    let clean = settings.scan().redact(&caller.actor);
    (clean.count > 0).then(|| Caller { actor: clean.text.into_owned(), ..caller.clone() })
}

/// A secret in a request: where, and of which kind.
struct Found {
    path: Vec<Step>,
    kind: &'static str,
    field_use: Use,
}

/// The most places that an answer names.
const WARNINGS_MAX: usize = 20;

/// The request as it may be stored.
pub(crate) fn checked<R: Request>(request: R, settings: SecretSettings) -> Result<(R, Notes), ServiceError> {
    let scan = settings.scan();
    let mut found = Vec::new();
    strings::visit(&request, &mut |path, text| {
        let field_use = fields::use_of(R::NAME, path);
        if field_use == Use::LookedUp {
            return;
        }
        let name = fields::nearest_name(path).unwrap_or_default();
        for finding in scan.find_in_field(name, text) {
            found.push(Found { path: path.to_vec(), kind: finding.kind, field_use });
        }
    });
    if found.is_empty() {
        return Ok((request, Notes::default()));
    }
    match settings.policy {
        SecretPolicy::Warn => Ok((request, Notes { warnings: warnings(&found), ..Notes::default() })),
        SecretPolicy::Refuse => Err(refused(&found[0])),
        SecretPolicy::Redact => match found.iter().find(|it| it.field_use == Use::Identifier) {
            Some(identifier) => Err(refused(identifier)),
            None => {
                let redacted = redacting::redacted(&request, scan)?;
                let notes = Notes {
                    redacted: found.iter().map(|it| strings::first_index(&it.path)).collect(),
                    ..Notes::default()
                };
                Ok((redacted, notes))
            }
        },
    }
}

fn refused(found: &Found) -> ServiceError {
    let place = fields::shown(&found.path);
    let error = ServiceError::invalid(format!("`{place}` looks like a secret ({})", found.kind));
    match found.field_use {
        Use::Identifier => error.with_hint("names and ids are stored as they are; choose one without a secret in it"),
        _ => {
            error.with_hint("leave the secret out; `memory.secrets = \"redact\"` would store `[redacted]` in its place")
        }
    }
}

fn warnings(found: &[Found]) -> Vec<String> {
    let said = |it: &Found| format!("`{}` looks like a secret ({}) and was stored", fields::shown(&it.path), it.kind);
    let mut warnings: Vec<String> = found.iter().take(WARNINGS_MAX).map(said).collect();
    if found.len() > WARNINGS_MAX {
        warnings.push(format!("{} more values look like secrets and were stored", found.len() - WARNINGS_MAX));
    }
    warnings
}
