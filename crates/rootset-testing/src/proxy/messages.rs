//! As much of PostgreSQL's protocol as it takes to tell one message from the next.

use std::io::Read;
use std::os::unix::net::UnixStream;

/// What a server says when `SET …; COMMIT` is done and it is ready for more.
pub const COMMITTED: &[u8] = b"C\0\0\0\x08SET\0C\0\0\0\x0bCOMMIT\0Z\0\0\0\x05I";

pub fn is_commit(message: &[u8]) -> bool {
    message.first() == Some(&b'Q') && message.ends_with(b"COMMIT\0")
}

pub fn is_statement(message: &[u8]) -> bool {
    matches!(message.first(), Some(b'Q' | b'P' | b'B')) && !is_commit(message)
}

/// The next message of a client. The first ones of a connection have no letter in front.
pub fn read_message(stream: &mut UnixStream, has_started: &mut bool) -> Option<Vec<u8>> {
    const PROTOCOL_3: u16 = 3;
    let mut message = vec![0; if *has_started { 5 } else { 4 }];
    stream.read_exact(&mut message).ok()?;
    let head = message.len();
    let length = u32::from_be_bytes(*message.last_chunk::<4>()?) as usize;
    message.resize(head + length - 4, 0);
    stream.read_exact(&mut message[head..]).ok()?;
    if !*has_started {
        *has_started = u16::from_be_bytes([message[4], message[5]]) == PROTOCOL_3;
    }
    Some(message)
}

/// What follows the first answer of a server, which ends when it is ready for more; `None` while that is still to come.
pub fn behind_answer(bytes: &[u8]) -> Option<&[u8]> {
    let mut rest = bytes;
    loop {
        let (&kind, message) = rest.split_first()?;
        let length = u32::from_be_bytes(*message.first_chunk::<4>()?) as usize;
        rest = message.get(length..)?;
        if kind == b'Z' {
            return Some(rest);
        }
    }
}
