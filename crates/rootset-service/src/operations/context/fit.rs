//! `context_fit`: a whole message list in, the list to send out.
//!
//! The path of a list: it is placed in its conversation by hashes (`crate::context::fitting`), its new messages become segments
//! (`adding`), what has to leave is chosen among all segments like in any other window (`leaving`), and the answer is made of the
//! caller's own values. Everything is written in one transaction before the answer is given, so that what left can be recalled.
//!
//! Invariants: an answer is the caller's list without whole units and with one line in the place of each run of them; equal lists
//! get equal answers; nothing leaves while the list fits.

mod adding;
mod asked;
mod leaving;

use std::sync::Arc;

use rootset_api::{
    CacheState, ContextFit, ContextFitted, FitFormat, FitHint, FitOverLimit, FitStashed, FitState, Tokenizer,
};
use rootset_gc::context::{SegmentIndex, SegmentState};
use rootset_messages::lists::{ListFormat, Units, line_of_user, message_hash, units};
use rootset_model::limits::{COUNT_MAX, FIT_MESSAGES_MAX};
use rootset_store::{LedgerAction, Workspace};
use serde_json::{Value, json};

use super::recall::MARK;
use crate::caller::Caller;
use crate::context::fitting::{Decision, Entry, History, Known, Number, Placed, Shape, first_changed};
use crate::context::{Edit, LiveSession, check_session_id, count_tokens};
use crate::error::ServiceError;
use crate::fields::not_negative;
use crate::operation::Operation;
use crate::service::Service;

/// Stands where messages left. Its words never change, because they are a part of what is cached.
const GAP: &str = "[Earlier messages were stashed here. The tool context_recall finds them by their words.]";
/// What a provider counts around each message.
const MESSAGE_TOKENS: u32 = 4;
const DIVERGED: &str = "the conversation went on from an earlier message";

impl Operation for ContextFit {
    fn run(mut self, service: &Arc<Service>, caller: &Caller) -> Result<ContextFitted, ServiceError> {
        let workspace = service.workspace(caller, self.workspace_id.as_deref())?;
        check_session_id(&self.session_id)?;
        let list = List::of(&self)?;
        let fitted = service.edit_session(caller, &workspace, &self.session_id, |edit| {
            let settings = edit.live.settings(&service.settings.context)?;
            Fitting { service, list: &list, settings }.fit(edit, &self)
        })?;
        let stashed = stashed(service, &workspace, &self.session_id, &list, &fitted)?;
        let messages = match &fitted.answer {
            None => self.messages,
            Some(answer) => {
                let entry = |entry| match entry {
                    Entry::Message(place) => std::mem::take(&mut self.messages[place as usize]),
                    Entry::Gap => list.gap.clone(),
                };
                answer.entries().map(entry).collect()
            }
        };
        Ok(ContextFitted {
            messages,
            format: list.format_answer(),
            stashed,
            tokens_before: fitted.tokens_before,
            tokens_after: fitted.tokens_after,
            first_changed_index: fitted.first_changed,
            state: fitted.state,
            recall_tool: recall_tool(list.format),
            recall_hints: fitted.hints,
            over_limit: fitted.over_limit,
        })
    }
}

/// What the caller sent, looked at once.
struct List {
    format: ListFormat,
    hashes: Vec<u64>,
    units: Units,
    keep: Vec<usize>,
    cache_state: CacheState,
    /// Tokens that there is room for.
    available: u64,
    gap: Value,
    gap_hash: u64,
    /// Of the system prompt and the tools.
    frame: Option<String>,
    /// Of the list, the budget and the format.
    key: u64,
}

impl List {
    fn of(request: &ContextFit) -> Result<Self, ServiceError> {
        let messages = &request.messages;
        if messages.is_empty() || messages.len() > FIT_MESSAGES_MAX {
            let found = messages.len();
            return Err(ServiceError::invalid(format!(
                "`messages` has {found} items; allowed: 1 to {FIT_MESSAGES_MAX}"
            )));
        }
        let reserved = not_negative("reserved_tokens", request.reserved_tokens)?;
        let budget = request.budget_tokens;
        if !(1..=COUNT_MAX).contains(&budget) || reserved >= budget {
            return Err(ServiceError::invalid(format!(
                "`budget_tokens` is {budget}; it must be above `reserved_tokens`, which is {reserved}"
            )));
        }
        if let Some(observed) = request.observed_input_tokens.filter(|it| *it <= 0) {
            return Err(ServiceError::invalid(format!("`observed_input_tokens` is {observed}; it must be above 0")));
        }
        let mut keep = Vec::new();
        for place in request.keep.iter().flatten() {
            match usize::try_from(*place).ok().filter(|place| *place < messages.len()) {
                Some(place) => keep.push(place),
                None => {
                    let last = messages.len() - 1;
                    return Err(ServiceError::invalid(format!("`keep` has {place}; allowed: 0 to {last}")));
                }
            }
        }
        keep.sort_unstable();
        keep.dedup();
        let format = match request.format {
            None => ListFormat::recognised(messages),
            Some(FitFormat::Anthropic) => ListFormat::Anthropic,
            Some(FitFormat::OpenAi) => ListFormat::OpenAi,
            Some(FitFormat::OpenAiResponses) => ListFormat::OpenAiResponses,
            Some(FitFormat::LangChain) => ListFormat::LangChain,
        };
        let hashes: Vec<u64> = messages.iter().map(message_hash).collect();
        let gap = line_of_user(format, messages.first(), GAP);
        let available = (budget - reserved) as u64;
        let frame = [request.system.clone(), request.tools.clone().map(Value::Array)].map(Option::unwrap_or_default);
        let key = json!([hashes, available, format.as_str(), keep, frame]);
        let has_frame = frame.iter().any(|part| !part.is_null());
        Ok(Self {
            format,
            units: units(format, messages),
            keep,
            cache_state: request.cache_state.unwrap_or_default(),
            available,
            gap_hash: message_hash(&gap),
            gap,
            frame: has_frame.then(|| Value::from(frame.to_vec()).to_string()),
            key: message_hash(&key),
            hashes,
        })
    }

    fn format_answer(&self) -> FitFormat {
        match self.format {
            ListFormat::Anthropic => FitFormat::Anthropic,
            ListFormat::OpenAi => FitFormat::OpenAi,
            ListFormat::OpenAiResponses => FitFormat::OpenAiResponses,
            ListFormat::LangChain => FitFormat::LangChain,
        }
    }
}

/// The outcome, before it is put into the caller's values.
struct Fitted {
    /// Over the places of the list; `None` where the list is returned whole.
    answer: Option<Shape>,
    left: Vec<(usize, Number)>,
    tokens_before: u64,
    tokens_after: u64,
    first_changed: Option<usize>,
    state: FitState,
    hints: Vec<FitHint>,
    over_limit: Option<FitOverLimit>,
}

struct Fitting<'a> {
    service: &'a Service,
    list: &'a List,
    settings: crate::context::ContextSettings,
}

/// The conversation as it stands with the list.
struct Standing {
    history: History,
    /// Of the list's entries.
    entries: Vec<Entry>,
    /// By number: where it is in the list.
    places: Vec<Option<usize>>,
    is_out: Vec<bool>,
    /// Numbers from here on were not sent before.
    first_new: Number,
    frame_tokens: u64,
    gap_tokens: u64,
}

impl Fitting<'_> {
    fn fit(&self, edit: &mut Edit<'_>, request: &ContextFit) -> Result<Fitted, ServiceError> {
        let mut history = edit.live.changes.fitting.as_deref().cloned().unwrap_or_default();
        let frame_tokens = self.list.frame.as_deref().map_or(0, |text| u64::from(self.count(text)));
        let before = history.answered_hashes(self.list.gap_hash);
        let placed = history.place(&self.list.hashes, self.list.gap_hash);
        let state = match (placed.is_diverged, placed.known.len() == self.list.hashes.len()) {
            (true, _) => FitState::Diverged,
            (false, true) => FitState::Unchanged,
            (false, false) => FitState::Appended,
        };
        let known = history.decision(self.list.key).cloned();
        if let Some(decision) = &known {
            if let Some(observed) = request.observed_input_tokens {
                history.observe(observed as u64, decision.tokens_before);
            }
            // Equal lists get equal answers, unless the provider just counted this one and it was too long.
            let is_observed = request.observed_input_tokens.is_some();
            if !is_observed || history.as_observed(decision.tokens_after) <= self.list.available {
                keep_history(edit, history);
                return Ok(Fitted::again(decision));
            }
        }
        if placed.is_diverged {
            stash_from(edit, &history, placed.ends_at);
            history.cut(placed.ends_at);
        }
        let mut standing = self.standing(history, placed, frame_tokens);
        let additions = self.add_new(edit, &request.messages, &mut standing)?;
        let hints = hints(edit, &additions);
        if state == FitState::Diverged {
            self.bring_back_asked(edit, &mut standing);
        }
        let tokens_before = standing.tokens_of_list();
        if let Some(observed) = request.observed_input_tokens.filter(|_| known.is_none()) {
            standing.history.observe(observed as u64, tokens_before);
        }
        let was_out = standing.is_out.clone();
        let over_limit = self.make_room(edit, &mut standing)?;
        let (shape, tokens) = standing.arranged(&standing.is_out, self.list);
        let sent = shape_of(&standing.entries);
        if let Some(over_limit) = over_limit {
            standing.history.take(sent, shape, tokens_before, None);
            keep_history(edit, standing.history);
            let (answer, left) = (None, Vec::new());
            let first_changed = first_changed(&before, &self.list.hashes);
            let (tokens_after, over_limit) = (tokens_before, Some(over_limit));
            return Ok(Fitted { answer, left, tokens_before, tokens_after, first_changed, state, hints, over_limit });
        }
        let after: Vec<u64> = shape.entries().map(|entry| standing.history.hash(entry, self.list.gap_hash)).collect();
        let decision = Decision {
            key: self.list.key,
            answer: standing.over_places(&shape),
            tokens_before,
            tokens_after: tokens,
            first_changed: first_changed(&before, &after),
            left: standing.newly_out(&was_out),
        };
        let fitted = Fitted { state, hints, ..Fitted::again(&decision) };
        standing.history.take(sent, shape, tokens, Some(decision));
        keep_history(edit, standing.history);
        Ok(fitted)
    }

    fn count(&self, text: &str) -> u32 {
        count_tokens(self.tokenizer(), text)
    }

    fn tokenizer(&self) -> Tokenizer {
        self.settings.tokenizer
    }

    fn standing(&self, history: History, placed: Placed, frame_tokens: u64) -> Standing {
        let first_new = history.messages.len() as Number;
        let new = self.list.hashes.len() - placed.known.len();
        let mut entries = placed.known;
        entries.extend((first_new..).take(new).map(Entry::Message));
        let mut places = vec![None; first_new as usize + new];
        for (place, entry) in entries.iter().enumerate() {
            if let Entry::Message(number) = entry {
                places[*number as usize] = Some(place);
            }
        }
        let is_out = history.is_out();
        let gap_tokens = u64::from(self.count(GAP) + MESSAGE_TOKENS);
        Standing { history, entries, places, is_out, first_new, frame_tokens, gap_tokens }
    }
}

impl Standing {
    /// What the answer would be with these out: over numbers, and its tokens.
    fn arranged(&self, is_out: &[bool], list: &List) -> (Shape, u64) {
        let (mut shape, mut tokens, mut is_gap_due) = (Shape::default(), self.frame_tokens, false);
        for (number, message) in self.history.messages.iter().enumerate() {
            let place = self.places[number].filter(|_| !is_out[number]);
            let Some(place) = place else {
                is_gap_due = true;
                continue;
            };
            // Never between a call and its result.
            if is_gap_due && !list.units.continues[place] {
                shape.push(Entry::Gap);
                tokens += self.gap_tokens;
                is_gap_due = false;
            }
            shape.push(Entry::Message(number as Number));
            tokens += u64::from(message.1);
        }
        (shape, tokens)
    }

    fn tokens_of_list(&self) -> u64 {
        let tokens = |entry: &Entry| match entry {
            Entry::Message(number) => u64::from(self.history.messages[*number as usize].1),
            Entry::Gap => self.gap_tokens,
        };
        self.frame_tokens + self.entries.iter().map(tokens).sum::<u64>()
    }

    fn over_places(&self, shape: &Shape) -> Shape {
        let place = |entry| match entry {
            Entry::Message(number) => {
                let place = self.places[number as usize].expect("only messages of the list are answered");
                Entry::Message(place as Number)
            }
            Entry::Gap => Entry::Gap,
        };
        let entries: Vec<Entry> = shape.entries().map(place).collect();
        shape_of(&entries)
    }

    fn newly_out(&self, was_out: &[bool]) -> Vec<(usize, Number)> {
        let numbers = (0..self.is_out.len()).filter(|number| self.is_out[*number] && !was_out[*number]);
        numbers.filter_map(|number| Some((self.places[number]?, number as Number))).collect()
    }
}

impl Fitted {
    fn again(decision: &Decision) -> Self {
        Self {
            answer: Some(decision.answer.clone()),
            left: decision.left.clone(),
            tokens_before: decision.tokens_before,
            tokens_after: decision.tokens_after,
            first_changed: decision.first_changed,
            state: FitState::Unchanged,
            hints: Vec::new(),
            over_limit: None,
        }
    }
}

fn shape_of(entries: &[Entry]) -> Shape {
    let mut shape = Shape::default();
    entries.iter().for_each(|entry| shape.push(*entry));
    shape
}

fn keep_history(edit: &mut Edit<'_>, history: History) {
    if edit.live.changes.fitting.as_deref() != Some(&history) {
        edit.live.changes.fitting = Some(Box::new(history));
        edit.change_state();
    }
}

/// The segments of a message, whatever their state; none if it was not stored.
fn segments_of(live: &LiveSession, number: Number, hash: u64) -> Vec<SegmentIndex> {
    (0..).map_while(|part| live.index_of(&segment_id(number, hash, part))).collect()
}

fn segment_id(number: Number, hash: u64, part: usize) -> String {
    format!("m{number}-{hash:016x}.{part}")
}

fn stash_from(edit: &mut Edit<'_>, history: &History, first: Number) {
    for (number, Known(hash, _)) in history.messages.iter().enumerate().skip(first as usize) {
        for segment in segments_of(edit.live, number as Number, *hash) {
            if edit.live.window().graph().state(segment) == SegmentState::Active {
                edit.stash(segment, DIVERGED, LedgerAction::Stash);
            }
        }
    }
}

fn hints(edit: &Edit<'_>, additions: &[super::add::Addition]) -> Vec<FitHint> {
    let id = |segment_id: &str| {
        let number = edit.live.index_of(segment_id).map(|index| edit.live.row(index).segment);
        number.map(|number| format!("{MARK}{number}"))
    };
    let hints = super::add::recall_hints(edit, additions);
    hints.into_iter().filter_map(|hint| Some(FitHint { id: id(&hint.segment_id)?, because: hint.because })).collect()
}

/// Segments get their numbers when they are written, so this comes after.
fn stashed(
    service: &Service,
    workspace: &Workspace,
    session_id: &str,
    list: &List,
    fitted: &Fitted,
) -> Result<Vec<FitStashed>, ServiceError> {
    if fitted.left.is_empty() {
        return Ok(Vec::new());
    }
    service.read_session(workspace, session_id, |live| {
        let of_message = |(place, number): &(usize, Number)| {
            let segments = segments_of(live, *number, list.hashes[*place]);
            let reason = segments.iter().find_map(|segment| live.row(*segment).stash_reason.clone());
            FitStashed {
                index: *place,
                ids: segments.iter().map(|segment| format!("{MARK}{}", live.row(*segment).segment)).collect(),
                tokens: segments.iter().map(|segment| u64::from(live.row(*segment).tokens)).sum(),
                reason: reason.unwrap_or_default(),
            }
        };
        Ok(fitted.left.iter().map(of_message).collect())
    })
}

/// As the provider of a list takes it. The fields are those of the operation.
fn recall_tool(format: ListFormat) -> Value {
    const NAME: &str = "context_recall";
    const DESCRIPTION: &str =
        "Read the original text of earlier messages that were stashed to make room: by words, or by ids from a hint.";
    let schema = json!({
        "type": "object",
        "properties": {
            "query": {"type": "string", "description": "Words to look for."},
            "ids": {"type": "array", "items": {"type": "string"}, "description": "Ids from a hint or an earlier answer."},
            "lines": {"type": "string", "description": "Only these lines, such as 10-80."},
            "max_tokens": {"type": "integer", "description": "The limit of the answer (2000)."},
        },
    });
    match format {
        ListFormat::Anthropic => json!({"name": NAME, "description": DESCRIPTION, "input_schema": schema}),
        ListFormat::OpenAiResponses => {
            json!({"type": "function", "name": NAME, "description": DESCRIPTION, "parameters": schema})
        }
        ListFormat::OpenAi | ListFormat::LangChain => {
            json!({"type": "function", "function": {"name": NAME, "description": DESCRIPTION, "parameters": schema}})
        }
    }
}
