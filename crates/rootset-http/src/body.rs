//! The body of a request: bounded in bytes, in values and in time. What all large bodies of one asker, and those of
//! everybody, may hold at once is bounded, too; large answers count like them.

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, HttpBody};
use bytes::{Bytes, BytesMut};
use http::header::{CONTENT_TYPE, HeaderMap};
use http_body_util::BodyExt;
use rootset_api::OperationInfo;
use rootset_service::PerCaller;
use serde_json::{Map, Value};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::answer::Refusal;

/// Bodies up to this size need no room: every request that may run at once can have one.
const SMALL_BYTES_MAX: usize = 64 << 10;
/// Of a request that is not bulky: the largest memory with every character escaped, and the rest of it.
const PLAIN_BYTES_MAX: usize = 8 << 20;
/// Of a message of the Model Context Protocol. Nothing that a model writes is longer.
const MESSAGE_BYTES_MAX: usize = 8 << 20;
/// From here on, requests are worked on one or two at a time.
const LARGE_BYTES_MIN: usize = 1 << 20;
/// Values in a request that is not bulky: the longest lists have ten thousand ids.
const PLAIN_VALUES_MAX: usize = 20_000;
/// Values in a bulky one: the largest import of a graph, the largest batch of memories.
const BULKY_VALUES_MAX: usize = 100_000;
/// Values in a bulky and large one: a long session of an agent.
const LARGE_VALUES_MAX: usize = 500_000;
const KIB: usize = 1 << 10;

/// What a body may be.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    bytes_max: usize,
    is_bulky: bool,
}

/// Of one asker, and of all. Given back when dropped.
#[derive(Debug)]
pub struct Room {
    _own: OwnedSemaphorePermit,
    _any: OwnedSemaphorePermit,
}

/// A body in memory, and the room it takes until it is dropped.
#[derive(Debug)]
pub struct Received {
    pub bytes: Bytes,
    bounds: Bounds,
    _room: Option<Room>,
}

#[derive(Debug)]
pub struct Reader {
    bytes_max: usize,
    timeout: Duration,
    /// In KiB.
    room: Arc<Semaphore>,
    room_of_asker: PerCaller<Semaphore>,
}

impl Reader {
    pub fn new(bytes_max: usize, timeout: Duration) -> Self {
        // One asker can hold one of the largest, and the others still have half of that.
        let of_asker = bytes_max.div_ceil(KIB).min(Semaphore::MAX_PERMITS / 2);
        let room = Arc::new(Semaphore::new(of_asker + of_asker / 2));
        Self { bytes_max, timeout, room, room_of_asker: PerCaller::new(move || Semaphore::new(of_asker)) }
    }

    pub fn bounds_of(&self, operation: Option<&OperationInfo>) -> Bounds {
        let is_bulky = operation.is_some_and(|it| it.is_bulky);
        let bytes_max = if is_bulky { self.bytes_max } else { PLAIN_BYTES_MAX.min(self.bytes_max) };
        Bounds { bytes_max, is_bulky }
    }

    pub fn bounds_of_message(&self) -> Bounds {
        Bounds { bytes_max: MESSAGE_BYTES_MAX.min(self.bytes_max), is_bulky: true }
    }

    pub async fn read(&self, asker: &str, body: Body, bounds: Bounds) -> Result<Received, Refusal> {
        let declared = declared_length(&body);
        if declared.is_some_and(|length| length > bounds.bytes_max) {
            return Err(Refusal::too_large(bounds.bytes_max, bounds.bytes_max == self.bytes_max));
        }
        let expected = declared.unwrap_or(bounds.bytes_max);
        let room = if expected <= SMALL_BYTES_MAX { None } else { Some(self.take_room(asker, expected)?) };
        // Its room is taken already, and what grows piece by piece takes twice as much.
        let reading = self.read_frames(body, bounds, declared.unwrap_or_default());
        let bytes = tokio::time::timeout(self.timeout, reading)
            .await
            .map_err(|_| Refusal::too_slow(self.timeout.as_secs()))??;
        Ok(Received { bytes, bounds, _room: room })
    }

    /// For an answer that is as large as large bodies are: it stays in memory until it is taken.
    pub fn room_for_answer(&self, asker: &str, bytes: usize) -> Result<Option<Room>, Refusal> {
        if bytes < LARGE_BYTES_MIN { Ok(None) } else { self.take_room(asker, bytes.min(self.bytes_max)).map(Some) }
    }

    fn take_room(&self, asker: &str, bytes: usize) -> Result<Room, Refusal> {
        let kib = u32::try_from(bytes.div_ceil(KIB)).unwrap_or(u32::MAX);
        let own = self.room_of_asker.of(asker).try_acquire_many_owned(kib).map_err(|_| Refusal::own_room_taken())?;
        let any = self.room.clone().try_acquire_many_owned(kib);
        let any =
            any.map_err(|_| Refusal::busy("too much of large requests and answers is in memory", "try again later"))?;
        Ok(Room { _own: own, _any: any })
    }

    async fn read_frames(&self, mut body: Body, bounds: Bounds, capacity: usize) -> Result<Bytes, Refusal> {
        let mut all = BytesMut::with_capacity(capacity);
        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(|_| Refusal::broken_body())?;
            let Ok(data) = frame.into_data() else { continue };
            if all.len() + data.len() > bounds.bytes_max {
                return Err(Refusal::too_large(bounds.bytes_max, bounds.bytes_max == self.bytes_max));
            }
            all.extend_from_slice(&data);
        }
        Ok(all.freeze())
    }
}

impl Received {
    pub fn is_large(&self) -> bool {
        self.bytes.len() >= LARGE_BYTES_MIN
    }

    fn values_max(&self) -> usize {
        match (self.bounds.is_bulky, self.is_large()) {
            (false, _) => PLAIN_VALUES_MAX,
            (true, false) => BULKY_VALUES_MAX,
            (true, true) => LARGE_VALUES_MAX,
        }
    }

    /// No body at all is a request without fields, whatever its `Content-Type`.
    pub fn parse(&self, headers: &HeaderMap) -> Result<Value, Refusal> {
        if self.bytes.is_empty() {
            return Ok(Value::Object(Map::new()));
        }
        let content_type = headers.get(CONTENT_TYPE).map(|value| value.to_str().unwrap_or("?"));
        if !content_type.is_some_and(is_json) {
            return Err(Refusal::wrong_content_type(content_type));
        }
        // Nothing is built of what is refused.
        rootset_model::json::check(&self.bytes, self.values_max()).map_err(|error| Refusal::not_json(&error))?;
        serde_json::from_slice(&self.bytes).map_err(|error| Refusal::not_json(&error))
    }
}

fn is_json(content_type: &str) -> bool {
    let mut parts = content_type.split(';').map(str::trim);
    let is_type = parts.next().is_some_and(|it| it.eq_ignore_ascii_case("application/json"));
    is_type
        && parts.all(|parameter| match parameter.split_once('=') {
            Some((name, value)) if name.eq_ignore_ascii_case("charset") => {
                value.trim_matches('"').eq_ignore_ascii_case("utf-8")
            }
            _ => true,
        })
}

fn declared_length(body: &Body) -> Option<usize> {
    body.size_hint().exact().map(|length| usize::try_from(length).unwrap_or(usize::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_json_in_utf8_is_json() {
        for good in ["application/json", "Application/JSON; charset=UTF-8", "application/json;charset=\"utf-8\""] {
            assert!(is_json(good), "{good}");
        }
        for bad in ["", "text/plain", "application/jsonp", "application/json; charset=latin1", "text/json"] {
            assert!(!is_json(bad), "{bad}");
        }
    }
}
