//! Keys written over several lines: PEM, PGP, SSH2, OpenVPN and PuTTY.

use super::Finding;
use super::pattern::{is_token_byte, run};

pub(super) const KINDS: &[&str] = &["private_key", "pgp_private_key", "openvpn_key", "putty_private_key"];

const LABEL_BYTES_MAX: usize = 48;
/// A PuTTY key names its number of lines; none has more.
const PUTTY_LINES_MAX: usize = 200;

/// How a block begins and what its label ends with.
struct Edge {
    begin: &'static str,
    end: &'static str,
    label_end: &'static str,
    kind: &'static str,
}

const EDGES: &[Edge] = &[
    Edge { begin: "-----BEGIN ", end: "-----END ", label_end: "PRIVATE KEY-----", kind: "private_key" },
    Edge { begin: "-----BEGIN ", end: "-----END ", label_end: "PRIVATE KEY BLOCK-----", kind: "pgp_private_key" },
    Edge { begin: "---- BEGIN ", end: "---- END ", label_end: "PRIVATE KEY ----", kind: "private_key" },
    Edge { begin: "-----BEGIN ", end: "-----END ", label_end: "OpenVPN Static key V1-----", kind: "openvpn_key" },
];

/// Where ends of blocks may still be found, per edge; none when there is no further one, so that a text full of beginnings is
/// not searched again for each.
#[derive(Debug)]
pub(super) struct Blocks {
    ends_from: [Option<usize>; EDGES.len()],
}

impl Blocks {
    pub(super) fn new() -> Self {
        Self { ends_from: [Some(0); EDGES.len()] }
    }

    /// The block that begins with the hyphen at `position`.
    pub(super) fn block_at(&mut self, text: &str, position: usize) -> Option<Finding> {
        let rest = text.get(position..)?;
        let (number, edge, label_end) = EDGES.iter().enumerate().find_map(|(number, edge)| {
            let label = rest.strip_prefix(edge.begin)?;
            let label_end = crate::chars::cut_bytes(label, LABEL_BYTES_MAX).find(edge.label_end)?;
            let is_label = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b' ';
            label[..label_end].bytes().all(is_label).then_some((number, edge, label_end))
        })?;
        let body = position + edge.begin.len() + label_end + edge.label_end.len();
        let end = self.end_of(text, body, number, edge).unwrap_or_else(|| {
            // Cut off in the middle: whatever still looks like the key.
            body + run(&text.as_bytes()[body..], |byte| is_token_byte(byte) || b"+/=\r\n \\:".contains(&byte))
        });
        let end = body + text[body..end].trim_end().len();
        Some(Finding { kind: edge.kind, range: position..end })
    }

    fn end_of(&mut self, text: &str, body: usize, number: usize, edge: &Edge) -> Option<usize> {
        let mut search = self.ends_from[number]?.max(body);
        loop {
            let Some(found) = text[search..].find(edge.end) else {
                self.ends_from[number] = None;
                return None;
            };
            let label = search + found + edge.end.len();
            let label_text = crate::chars::cut_bytes(&text[label..], LABEL_BYTES_MAX);
            if let Some(label_end) = label_text.find(edge.label_end) {
                self.ends_from[number] = Some(search);
                return Some(label + label_end + edge.label_end.len());
            }
            search = label;
        }
    }
}

/// `Private-Lines: 14` and the lines that it counts.
pub(super) fn putty_lines_at(text: &str, position: usize) -> Option<Finding> {
    const HEAD: &str = "Private-Lines: ";
    let rest = text.get(position..)?.strip_prefix(HEAD)?;
    let digits = run(rest.as_bytes(), |byte| byte.is_ascii_digit());
    let count: usize = rest[..digits].parse().ok().filter(|count| (1..=PUTTY_LINES_MAX).contains(count))?;
    let start = position + HEAD.len() + digits;
    let lines: usize = text[start..].split_inclusive('\n').take(count + 1).map(str::len).sum();
    let body = &text[start..start + lines];
    let start = start + (body.len() - body.trim_start().len());
    let end = start + body.trim().len();
    let is_key = end > start && text.as_bytes()[start..end].iter().all(|&byte| is_key_byte(byte));
    is_key.then_some(Finding { kind: "putty_private_key", range: start..end })
}

fn is_key_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"+/=\r\n".contains(&byte)
}
