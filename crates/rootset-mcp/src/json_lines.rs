//! JSON-RPC as lines over a pair of pipes.
//!
//! Differs from the library's own transport in three ways: an unreadable message is answered with an error, under its id
//! if there is one, so that no client waits forever; a pipe that nobody reads any more ends the connection; and a
//! notification before the first request is ignored.

use std::sync::Arc;

use rmcp::RoleServer;
use rmcp::model::{ErrorData, JsonRpcMessage, RequestId};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;

use crate::unreadable::{self, Unreadable};

/// Ten times what the largest accepted batch of memories needs; without a limit a line without end would fill the memory.
const LINE_BYTES_MAX: usize = 16 * 1024 * 1024;

pub struct JsonLines<R, W> {
    read: BufReader<R>,
    /// What of the current line was read: reading may be given up between any two pieces and taken up again.
    line: Vec<u8>,
    /// The rest of a line that was too long.
    is_skipping: bool,
    has_begun: bool,
    write: Arc<Mutex<Option<W>>>,
    /// Nobody reads what we write.
    is_unheard: CancellationToken,
}

/// One line, or why there is none.
enum Read {
    Line,
    TooLong,
    End,
}

/// What a line turned out to be.
enum Received {
    Message(Box<RxJsonRpcMessage<RoleServer>>),
    Refused(ErrorData, Option<RequestId>),
    Nothing,
}

impl<R, W> JsonLines<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    pub fn new(read: R, write: W) -> Self {
        Self {
            read: BufReader::new(read),
            line: Vec::new(),
            is_skipping: false,
            has_begun: false,
            write: Arc::new(Mutex::new(Some(write))),
            is_unheard: CancellationToken::new(),
        }
    }

    /// Reads on in the current line. Giving it up loses nothing: pieces are taken and kept in one step.
    async fn read_line(&mut self) -> Read {
        loop {
            let piece = match self.read.fill_buf().await {
                Ok(piece) if !piece.is_empty() => piece,
                // A last line without an end is an incomplete message.
                Ok(_) => return Read::End,
                Err(error) => {
                    tracing::error!(%error, "cannot read from the client");
                    return Read::End;
                }
            };
            let end = piece.iter().position(|byte| *byte == b'\n');
            let length = end.map_or(piece.len(), |end| end + 1);
            let is_too_long = !self.is_skipping && self.line.len() + length > LINE_BYTES_MAX;
            if !self.is_skipping && !is_too_long {
                self.line.extend_from_slice(&piece[..length]);
            }
            self.read.consume(length);
            if is_too_long {
                self.line = Vec::new();
                self.is_skipping = end.is_none();
                return Read::TooLong;
            }
            match (end.is_some(), std::mem::take(&mut self.is_skipping)) {
                (true, false) => return Read::Line,
                (true, true) => {}
                (false, was_skipping) => self.is_skipping = was_skipping,
            }
        }
    }

    /// In a task of its own: a line that was begun must be ended, and reading may be given up at any time.
    fn refuse(&mut self, error: ErrorData, id: Option<RequestId>) {
        tokio::spawn(self.send(JsonRpcMessage::error(error, id)));
    }
}

impl<R, W> Transport<RoleServer> for JsonLines<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = std::io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), std::io::Error>> + Send + 'static {
        let (write, is_unheard) = (self.write.clone(), self.is_unheard.clone());
        async move {
            let mut line = serde_json::to_vec(&message)?;
            line.push(b'\n');
            let mut write = write.lock().await;
            let Some(write) = write.as_mut() else {
                return Err(std::io::ErrorKind::NotConnected.into());
            };
            let written = async {
                write.write_all(&line).await?;
                write.flush().await
            };
            match written.await {
                Ok(()) => Ok(()),
                // Not worth a word: the client is gone, and with that the connection ends.
                Err(_) => {
                    is_unheard.cancel();
                    Ok(())
                }
            }
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            let is_unheard = self.is_unheard.clone();
            let read = tokio::select! {
                biased;
                () = is_unheard.cancelled() => return None,
                read = self.read_line() => read,
            };
            match read {
                Read::End => return None,
                Read::TooLong => {
                    let problem = format!("a message has more than {LINE_BYTES_MAX} bytes; it was not read");
                    self.refuse(ErrorData::invalid_request(problem, None), None);
                    continue;
                }
                Read::Line => {}
            }
            let received = parse(&self.line);
            self.line.clear();
            match received {
                Received::Message(message) => {
                    self.has_begun |= matches!(*message, JsonRpcMessage::Request(_));
                    if self.has_begun {
                        return Some(*message);
                    }
                }
                Received::Refused(error, id) => self.refuse(error, id),
                Received::Nothing => {}
            }
        }
    }

    async fn close(&mut self) -> Result<(), std::io::Error> {
        self.write.lock().await.take();
        Ok(())
    }
}

fn parse(line: &[u8]) -> Received {
    const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
    let line = line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line).trim_ascii();
    if line.is_empty() {
        return Received::Nothing;
    }
    if let Err(unreadable) = unreadable::check(line) {
        return unreadable.into();
    }
    match serde_json::from_slice(line) {
        Ok(message) => Received::Message(Box::new(message)),
        Err(_) => match serde_json::from_slice(line) {
            Ok(value) => unfit(&value),
            Err(problem) => Unreadable::new(line, &problem).into(),
        },
    }
}

impl From<Unreadable> for Received {
    fn from(unreadable: Unreadable) -> Self {
        Self::Refused(unreadable.error, unreadable.id)
    }
}

/// JSON, but not a message that we know.
fn unfit(value: &Value) -> Received {
    let id = value.get("id").and_then(|id| serde_json::from_value(id.clone()).ok());
    let method = value.get("method").and_then(Value::as_str);
    match (method, value.get("id")) {
        (Some(method), Some(_)) if id.is_some() => {
            let method: String = method.chars().take(80).collect();
            Received::Refused(ErrorData::invalid_params(format!("`params` do not fit `{method}`"), None), id)
        }
        // Unknown notifications and odd answers: nobody waits for a reply.
        (Some(_), None) => Received::Nothing,
        (None, Some(_)) if value.get("result").is_some() || value.get("error").is_some() => Received::Nothing,
        _ => {
            let problem = if value.is_array() {
                "batches are not supported; send the messages one by one"
            } else {
                "this is not a JSON-RPC message"
            };
            Received::Refused(ErrorData::invalid_request(problem, None), id)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(line: &str) -> Option<(i32, Option<RequestId>)> {
        match parse(line.as_bytes()) {
            Received::Refused(error, id) => Some((error.code.0, id)),
            Received::Message(_) | Received::Nothing => None,
        }
    }

    #[test]
    fn what_cannot_be_read_is_refused_with_its_id_where_there_is_one() {
        let seven = Some(RequestId::Number(7));
        assert_eq!(refusal("{nonsense"), Some((-32700, None)));
        assert_eq!(
            refusal(r#"{"jsonrpc":"2.0","id":7,"method":"ping","params":{"x":"\ud800"}}"#),
            Some((-32700, seven.clone()))
        );
        assert_eq!(refusal(r#"[{"jsonrpc":"2.0","id":7,"method":"ping"}]"#), Some((-32600, None)));
        assert_eq!(refusal(r#"{"jsonrpc":"2.0","id":7}"#), Some((-32600, seven)));
        assert_eq!(refusal(&format!("{}{}", "[".repeat(500), "]".repeat(500))), Some((-32700, None)));
    }

    #[test]
    fn what_waits_for_no_reply_gets_none() {
        for line in ["", "  \r\n", r#"{"jsonrpc":"2.0","method":"textDocument/didOpen","params":[1]}"#] {
            assert_eq!(refusal(line), None, "{line}");
        }
    }
}
