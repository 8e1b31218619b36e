//! The new messages of a list, as segments: whole units share a key, so that they leave together.
//!
//! A message in which something looks like a secret is stored without it; where the policy refuses secrets it is not stored, and
//! what is not stored never leaves.

use rootset_gc::context::SegmentState;
use rootset_messages::Draft;
use rootset_messages::lists::read_list;
use serde_json::Value;

use super::super::add::{Addition, add_all};
use super::{Entry, Fitting, Known, MESSAGE_TOKENS, Number, Standing, segment_id};
use crate::context::{Arrival, Edit, Incoming};
use crate::error::ServiceError;
use crate::secrets::SecretPolicy;

impl Fitting<'_> {
    pub(super) fn add_new(
        &self,
        edit: &mut Edit<'_>,
        messages: &[Value],
        standing: &mut Standing,
    ) -> Result<Vec<Addition>, ServiceError> {
        let first = messages.len() - (standing.places.len() - standing.first_new as usize);
        if first == messages.len() {
            return Ok(Vec::new());
        }
        // Results are read with their calls, which say what they show.
        let is_wanted = |place: &usize| {
            let unit = self.list.units.first[*place];
            unit.is_some() && self.list.units.first[first..].contains(&unit)
        };
        let earlier: Vec<usize> = (0..first).filter(is_wanted).collect();
        let list: Vec<&Value> = earlier.iter().map(|place| &messages[*place]).chain(&messages[first..]).collect();
        let read = read_list(self.list.format, &list);
        let drafts = read.map_err(|error| ServiceError::invalid(format!("`messages`: {error}")))?;
        let mut incoming = Vec::new();
        for (place, drafts) in (first..).zip(drafts.into_iter().skip(earlier.len())) {
            let unit = self.list.units.first[place].map(|unit| standing.entries[unit]);
            let Entry::Message(number) = standing.entries[place] else { continue };
            let key = unit.map(|unit| match unit {
                Entry::Message(first) => unit_key(first),
                Entry::Gap => unit_key(number),
            });
            let hash = self.list.hashes[place];
            let mut tokens = MESSAGE_TOKENS;
            for (part, draft) in whole(drafts, key.is_some()).into_iter().enumerate() {
                let draft =
                    Draft { segment_id: Some(segment_id(number, hash, part)), tool_call_id: key.clone(), ..draft };
                let (counted, one) = self.incoming(edit, draft)?;
                tokens = tokens.saturating_add(counted);
                incoming.extend(one);
            }
            standing.history.messages.push(Known(hash, tokens));
            standing.is_out.push(false);
        }
        let state = |edit: &Edit<'_>, one: &Incoming| {
            let known = edit.live.index_of(&one.row.segment_id)?;
            Some((known, edit.live.window().graph().state(known)))
        };
        // What somebody deleted is not stored again, and what left with a branch of the conversation comes back with it.
        incoming.retain(|one| !matches!(state(edit, one), Some((_, SegmentState::Deleted))));
        for one in &incoming {
            if let Some((segment, SegmentState::Stashed)) = state(edit, one) {
                edit.restore(segment, "the conversation has it again");
            }
        }
        add_all(edit, incoming)
    }

    /// What a part counts, and the part as it may be stored.
    fn incoming(&self, edit: &Edit<'_>, draft: Draft) -> Result<(u32, Option<Incoming>), ServiceError> {
        let secrets = self.service.settings.secrets;
        let next_id = || self.service.next_segment_id();
        let arrival = Arrival { tokenizer: self.tokenizer(), at: edit.at, next_id: &next_id };
        let redacted = secrets.scan().redact(&draft.text);
        let (count, clean) = (redacted.count, redacted.text.into_owned());
        let is_secret =
            count > 0 || draft.file_path.as_deref().is_some_and(|path| !secrets.scan().find(path).is_empty());
        let tokens = |draft: &Draft| self.count(&draft.text).saturating_add(draft.extra_tokens);
        let mut draft = Draft { raw: Value::Null, created_at: None, ..draft };
        let counted = is_secret.then(|| tokens(&draft));
        match secrets.policy {
            SecretPolicy::Refuse if is_secret => return Ok((tokens(&draft), None)),
            SecretPolicy::Redact if is_secret => {
                (draft.text, draft.file_path, draft.lines) = (clean, None, None);
            }
            _ => {}
        }
        let mut incoming = Incoming::from_draft(draft, &arrival)?;
        incoming.raw = None;
        incoming.row.tokens = counted.unwrap_or(incoming.row.tokens);
        Ok((incoming.row.tokens, Some(incoming)))
    }
}

pub(super) fn unit_key(first: Number) -> String {
    format!("u{first}")
}

pub(super) fn unit_of_key(key: &str) -> Option<Number> {
    key.strip_prefix('u')?.parse().ok()
}

/// The parts of a message that stands alone are one segment: they leave together, and belong to no call.
fn whole(drafts: Vec<Draft>, is_in_unit: bool) -> Vec<Draft> {
    if is_in_unit {
        return drafts;
    }
    let mut drafts = drafts.into_iter();
    let Some(mut first) = drafts.next() else { return Vec::new() };
    for draft in drafts {
        first.text.push('\n');
        first.text.push_str(&draft.text);
        first.extra_tokens = first.extra_tokens.saturating_add(draft.extra_tokens);
        first.is_invariant |= draft.is_invariant;
    }
    vec![first]
}
