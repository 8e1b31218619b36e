//! The body of a request: bounded in bytes and in time, and in what all bodies together may hold.

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, HttpBody};
use bytes::{Bytes, BytesMut};
use http::header::{CONTENT_TYPE, HeaderMap};
use http_body_util::BodyExt;
use serde_json::{Map, Value};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::answer::Refusal;

/// Bodies up to this size are read before anybody asks who sends them.
const SMALL_BYTES_MAX: usize = 64 << 10;
/// Large bodies held at the same time, counted in largest ones.
const LARGEST_AT_ONCE: usize = 4;
const KIB: usize = 1 << 10;

/// A body in memory, and the room it takes until it is dropped.
#[derive(Debug)]
pub struct Received {
    pub bytes: Bytes,
    _room: Option<OwnedSemaphorePermit>,
}

#[derive(Debug)]
pub struct Reader {
    bytes_max: usize,
    timeout: Duration,
    /// In KiB.
    room: Arc<Semaphore>,
}

impl Reader {
    pub fn new(bytes_max: usize, timeout: Duration) -> Self {
        let room = (bytes_max.div_ceil(KIB) * LARGEST_AT_ONCE).min(Semaphore::MAX_PERMITS);
        Self { bytes_max, timeout, room: Arc::new(Semaphore::new(room)) }
    }

    /// Whether it is small, as far as its sender says.
    pub fn is_small(&self, body: &Body) -> bool {
        declared_length(body).is_some_and(|length| length <= SMALL_BYTES_MAX)
    }

    pub async fn read(&self, body: Body) -> Result<Received, Refusal> {
        let declared = declared_length(&body);
        if declared.is_some_and(|length| length > self.bytes_max) {
            return Err(Refusal::too_large(self.bytes_max));
        }
        let expected = declared.unwrap_or(self.bytes_max);
        let room = if expected <= SMALL_BYTES_MAX { None } else { Some(self.take_room(expected)?) };
        let reading = self.read_frames(body, declared.unwrap_or_default().min(SMALL_BYTES_MAX));
        let bytes = tokio::time::timeout(self.timeout, reading)
            .await
            .map_err(|_| Refusal::too_slow(self.timeout.as_secs()))??;
        Ok(Received { bytes, _room: room })
    }

    fn take_room(&self, bytes: usize) -> Result<OwnedSemaphorePermit, Refusal> {
        let kib = u32::try_from(bytes.div_ceil(KIB)).unwrap_or(u32::MAX);
        self.room
            .clone()
            .try_acquire_many_owned(kib)
            .map_err(|_| Refusal::busy("too many large requests at the same time", "try again later"))
    }

    async fn read_frames(&self, mut body: Body, capacity: usize) -> Result<Bytes, Refusal> {
        let mut all = BytesMut::with_capacity(capacity);
        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(|_| Refusal::broken_body())?;
            let Ok(data) = frame.into_data() else { continue };
            if all.len() + data.len() > self.bytes_max {
                return Err(Refusal::too_large(self.bytes_max));
            }
            all.extend_from_slice(&data);
        }
        Ok(all.freeze())
    }
}

/// No body at all is a request without fields, whatever its `Content-Type`.
pub fn parse(headers: &HeaderMap, bytes: &[u8]) -> Result<Value, Refusal> {
    if bytes.is_empty() {
        return Ok(Value::Object(Map::new()));
    }
    let content_type = headers.get(CONTENT_TYPE).map(|value| value.to_str().unwrap_or("?"));
    if !content_type.is_some_and(is_json) {
        return Err(Refusal::wrong_content_type(content_type));
    }
    serde_json::from_slice(bytes).map_err(|error| Refusal::not_json(&error))
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
