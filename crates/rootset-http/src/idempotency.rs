//! `Idempotency-Key`: a writing request that is sent again under the same key gets the first one's answer.
//!
//! Kept in memory, per token and operation, bounded in number, bytes and time. After a restart a key is new again: what
//! must not happen twice then, the operations themselves refuse (equal content, names, plans that were applied).

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use http::HeaderValue;
use parking_lot::Mutex;
use tokio::sync::watch;

use crate::answer::{Answer, Refusal};

pub const HEADER: &str = "idempotency-key";
const KEY_BYTES_MAX: usize = 255;
const KEPT_FOR: Duration = Duration::from_secs(24 * 3_600);
const KEYS_MAX: usize = 10_000;
const ANSWERS_BYTES_MAX: usize = 16 << 20;

/// One key of one token for one operation.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RequestKey {
    pub token: [u8; 32],
    pub operation: &'static str,
    pub key: String,
}

/// What is known about a key.
#[derive(Debug)]
pub enum Known {
    /// Nothing: the request runs, and leaves its answer here.
    New(Claim),
    /// The same request ran, or runs right now.
    Same(watch::Receiver<Option<Answer>>),
    /// Another request used it.
    Other,
}

#[derive(Clone, Debug, Default)]
pub struct Keys(Arc<Mutex<Kept>>);

#[derive(Debug, Default)]
struct Kept {
    by_key: HashMap<RequestKey, Entry>,
    /// Oldest first. Holds the serial too: a key that was given up and used again is a new one.
    in_order: VecDeque<(RequestKey, u64)>,
    next_serial: u64,
    answers_bytes: usize,
}

#[derive(Debug)]
struct Entry {
    serial: u64,
    body: [u8; 32],
    since: Instant,
    answer_bytes: usize,
    answer: watch::Receiver<Option<Answer>>,
}

/// The header's value, if it can be a key.
pub fn key(value: &HeaderValue) -> Result<String, Refusal> {
    let text = value.to_str().unwrap_or_default();
    let is_visible = text.bytes().all(|byte| byte.is_ascii_graphic());
    if text.is_empty() || text.len() > KEY_BYTES_MAX || !is_visible {
        return Err(Refusal::bad_header("Idempotency-Key", "1 to 255 visible ASCII characters"));
    }
    Ok(text.to_owned())
}

impl Keys {
    pub fn look_up(&self, request_key: RequestKey, body: &[u8], now: Instant) -> Known {
        let body = *blake3::hash(body).as_bytes();
        let mut kept = self.0.lock();
        kept.forget_old(now);
        if let Some(entry) = kept.by_key.get(&request_key) {
            return if entry.body == body { Known::Same(entry.answer.clone()) } else { Known::Other };
        }
        let (sender, answer) = watch::channel(None);
        let serial = kept.next_serial;
        kept.next_serial += 1;
        kept.by_key.insert(request_key.clone(), Entry { serial, body, since: now, answer_bytes: 0, answer });
        kept.in_order.push_back((request_key.clone(), serial));
        Known::New(Claim { keys: self.clone(), request_key, serial, sender, is_settled: false })
    }
}

impl Kept {
    fn forget_old(&mut self, now: Instant) {
        while let Some((request_key, serial)) = self.in_order.front() {
            let entry = self.by_key.get(request_key).filter(|entry| entry.serial == *serial);
            let is_over = entry.is_none_or(|entry| now.saturating_duration_since(entry.since) >= KEPT_FOR);
            if !is_over && self.by_key.len() < KEYS_MAX && self.answers_bytes <= ANSWERS_BYTES_MAX {
                return;
            }
            if let Some((request_key, serial)) = self.in_order.pop_front() {
                self.forget(&request_key, serial);
            }
        }
    }

    fn forget(&mut self, request_key: &RequestKey, serial: u64) {
        if self.by_key.get(request_key).is_some_and(|entry| entry.serial == serial)
            && let Some(entry) = self.by_key.remove(request_key)
        {
            self.answers_bytes -= entry.answer_bytes;
        }
    }
}

/// The right, and the duty, to leave an answer under a key. Dropped without one, the key is free again.
#[derive(Debug)]
pub struct Claim {
    keys: Keys,
    request_key: RequestKey,
    serial: u64,
    sender: watch::Sender<Option<Answer>>,
    is_settled: bool,
}

impl Claim {
    pub fn settle(mut self, answer: &Answer) {
        // Who waits gets it either way; who comes later may try for a better one.
        self.sender.send_replace(Some(answer.clone()));
        if answer.is_passing() {
            return;
        }
        self.is_settled = true;
        let mut kept = self.keys.0.lock();
        let bytes = answer.body.len();
        if let Some(entry) = kept.by_key.get_mut(&self.request_key).filter(|entry| entry.serial == self.serial) {
            entry.answer_bytes = bytes;
            kept.answers_bytes += bytes;
        }
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        if !self.is_settled {
            self.keys.0.lock().forget(&self.request_key, self.serial);
        }
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use http::StatusCode;

    use super::*;

    fn request_key(key: &str) -> RequestKey {
        RequestKey { token: [1; 32], operation: "add_memory", key: key.to_owned() }
    }

    fn answer(status: StatusCode, bytes: usize) -> Answer {
        Answer { status, code: "ok", body: Bytes::from(vec![b' '; bytes]), retry_after_s: None }
    }

    fn claim(known: Known) -> Claim {
        match known {
            Known::New(claim) => claim,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn same_body_finds_the_answer_and_another_body_is_told_apart() {
        let (keys, now) = (Keys::default(), Instant::now());
        let first = answer(StatusCode::OK, 3);
        claim(keys.look_up(request_key("a"), b"{}", now)).settle(&first);
        match keys.look_up(request_key("a"), b"{}", now) {
            Known::Same(receiver) => assert_eq!(*receiver.borrow(), Some(first)),
            other => panic!("{other:?}"),
        }
        assert!(matches!(keys.look_up(request_key("a"), b"[]", now), Known::Other));
        let of_another = RequestKey { token: [2; 32], ..request_key("a") };
        assert!(matches!(keys.look_up(of_another, b"[]", now), Known::New(_)), "keys belong to tokens");
    }

    #[test]
    fn passing_answers_and_panics_leave_the_key_free() {
        let (keys, now) = (Keys::default(), Instant::now());
        claim(keys.look_up(request_key("a"), b"{}", now)).settle(&answer(StatusCode::SERVICE_UNAVAILABLE, 3));
        drop(claim(keys.look_up(request_key("a"), b"{}", now)));
        assert!(matches!(keys.look_up(request_key("a"), b"other", now), Known::New(_)));
    }

    #[test]
    fn keys_are_forgotten_after_a_day_and_beyond_the_bounds() {
        let (keys, now) = (Keys::default(), Instant::now());
        claim(keys.look_up(request_key("a"), b"{}", now)).settle(&answer(StatusCode::OK, 3));
        assert!(matches!(
            keys.look_up(request_key("a"), b"{}", now + KEPT_FOR - Duration::from_secs(1)),
            Known::Same(_)
        ));
        let again = keys.look_up(request_key("a"), b"{}", now + KEPT_FOR);
        claim(again).settle(&answer(StatusCode::OK, ANSWERS_BYTES_MAX + 1));
        claim(keys.look_up(request_key("b"), b"{}", now)).settle(&answer(StatusCode::OK, 3));
        assert!(matches!(keys.look_up(request_key("a"), b"{}", now), Known::New(_)), "too many bytes");
        for number in 0..KEYS_MAX {
            claim(keys.look_up(request_key(&format!("many {number}")), b"{}", now)).settle(&answer(StatusCode::OK, 1));
        }
        assert!(keys.0.lock().by_key.len() <= KEYS_MAX);
        assert!(matches!(keys.look_up(request_key("b"), b"{}", now), Known::New(_)), "too many keys");
    }
}
