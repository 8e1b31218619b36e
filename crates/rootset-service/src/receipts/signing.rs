//! The signature of a receipt: Ed25519 over the receipt's JSON. A file is good if it is, to the byte, what its own
//! content is written as, and if the signature fits the key that it names. Whose key that is, only a comparison of
//! fingerprints tells.

use ring::signature::{ED25519, Ed25519KeyPair, KeyPair, UnparsedPublicKey};
use serde_json::{Value, json};

use super::document::{ReceiptDocument, SignedBy};
use crate::fields::hex;

/// Of the receipts that this program writes and reads.
pub const FORMAT: u32 = 1;
const ALGORITHM: &str = "ed25519";
/// What is signed begins with this, so that no signature for something else fits.
const CONTEXT: &[u8] = b"rootset receipt 1\n";
/// A receipt has a line for every workspace and backup; what is longer is none.
const RECEIPT_BYTES_MAX: usize = 64 << 20;
const FINGERPRINT_BYTES: usize = 16;

/// Why a text is not a receipt that can be relied on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnverifiedReceipt(pub String);

impl std::fmt::Display for UnverifiedReceipt {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// The key of this installation.
pub(crate) struct Signer(Ed25519KeyPair);

impl Signer {
    pub fn new(seed: &[u8; 32]) -> Self {
        Self(Ed25519KeyPair::from_seed_unchecked(seed).expect("any 32 bytes are a seed"))
    }

    pub fn key(&self) -> SignedBy {
        let public_key = self.0.public_key().as_ref();
        let (algorithm, fingerprint) = (ALGORITHM.to_owned(), fingerprint(public_key));
        SignedBy { algorithm, public_key: hex(public_key), fingerprint }
    }

    /// The text of the file.
    pub fn sign(&self, document: &ReceiptDocument) -> String {
        let receipt = serde_json::to_value(document).expect("texts and numbers always serialise");
        let signature = self.0.sign(&signed_bytes(&receipt));
        written(&json!({"receipt": receipt, "signature": hex(signature.as_ref())}))
    }
}

/// In groups of four digits, for people to compare.
pub fn fingerprint(public_key: &[u8]) -> String {
    let digits = hex(&blake3::hash(public_key).as_bytes()[..FINGERPRINT_BYTES]);
    let groups: Vec<&str> = (0..digits.len()).step_by(4).map(|at| &digits[at..at + 4]).collect();
    groups.join("-")
}

/// What a file says, if its signature fits and no byte of it was changed.
pub fn verify_receipt(text: &str) -> Result<ReceiptDocument, UnverifiedReceipt> {
    let refused = |why: &str| UnverifiedReceipt(why.to_owned());
    if text.len() > RECEIPT_BYTES_MAX {
        return Err(refused("it is too long for a receipt"));
    }
    let file: Value = serde_json::from_str(text).map_err(|_| refused("it is not a receipt"))?;
    let (Some(receipt), Some(signature)) = (file.get("receipt"), file.get("signature").and_then(Value::as_str)) else {
        return Err(refused("it is not a receipt"));
    };
    // What stands beside the two is signed by nobody.
    if file.as_object().is_none_or(|fields| fields.len() != 2) {
        return Err(refused("it was changed: something was added"));
    }
    // The format first: a later one may hold fields that nobody here knows.
    match receipt.get("format").and_then(Value::as_u64) {
        Some(format) if format == u64::from(FORMAT) => {}
        Some(format) => return Err(UnverifiedReceipt(format!("it has format {format}, this program reads {FORMAT}"))),
        None => return Err(refused("it is not a receipt")),
    }
    if written(&file) != text {
        return Err(refused("it was changed: it is not written as a receipt is"));
    }
    let document: ReceiptDocument =
        serde_json::from_value(receipt.clone()).map_err(|_| refused("it was changed: a field is missing or wrong"))?;
    let (key, signature) = (unhex(&document.key.public_key), unhex(signature));
    let (Some(key), Some(signature)) = (key, signature) else {
        return Err(refused("it was changed: the key or the signature cannot be read"));
    };
    if document.key.algorithm != ALGORITHM || document.key.fingerprint != fingerprint(&key) {
        return Err(refused("it was changed: the key is not the one that its fingerprint names"));
    }
    UnparsedPublicKey::new(&ED25519, key)
        .verify(&signed_bytes(receipt), &signature)
        .map_err(|_| refused("it was changed, or somebody else signed it: the signature does not fit"))?;
    Ok(document)
}

fn signed_bytes(receipt: &Value) -> Vec<u8> {
    [CONTEXT, receipt.to_string().as_bytes()].concat()
}

fn written(file: &Value) -> String {
    let mut text = serde_json::to_string_pretty(file).expect("JSON values always serialise");
    text.push('\n');
    text
}

fn unhex(digits: &str) -> Option<Vec<u8>> {
    let is_digit = |c: char| c.is_ascii_digit() || ('a'..='f').contains(&c);
    if !digits.len().is_multiple_of(2) || !digits.chars().all(is_digit) {
        return None;
    }
    (0..digits.len()).step_by(2).map(|at| u8::from_str_radix(&digits[at..at + 2], 16).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::super::document::{AskedFor, BackupLine, ErasedLine, Left};
    use super::*;
    use rootset_model::{Counts, Timestamp};

    fn document(signer: &Signer) -> ReceiptDocument {
        let left = vec![Left { count: 1, reason: "pinned".into(), decided_by: "a pin".into() }];
        let erased = ErasedLine {
            workspace_id: "acme".into(),
            erasure_id: "019a".into(),
            run_id: None,
            rows: Counts::of("memories", 3),
            byte_scan: "clean".into(),
            left,
            audit: None,
        };
        let backup = BackupLine {
            backup_id: "20270115-080000-1f2e3d4c".into(),
            state: "holds".into(),
            expires_at: Some(Timestamp(1_800_000_000_000)),
            problem: None,
        };
        ReceiptDocument {
            format: FORMAT,
            issued_at: Timestamp(1_800_000_000_000),
            issued_to: "cli".into(),
            program: "rootset".into(),
            store: "sqlite".into(),
            erasure_id: "019a".into(),
            asked: AskedFor { operation: "forget".into(), keyed_hash: Some("ab".into()) },
            searched: None,
            erased: vec![erased],
            failed: Vec::new(),
            byte_scan: "clean".into(),
            backups: vec![backup],
            not_reached: vec!["transcripts".into()],
            key: signer.key(),
        }
    }

    #[test]
    fn a_receipt_is_read_as_it_was_signed() {
        let signer = Signer::new(&[7; 32]);
        let document = document(&signer);
        assert_eq!(verify_receipt(&signer.sign(&document)), Ok(document));
    }

    #[test]
    fn no_change_of_a_byte_and_no_lost_end_is_taken_for_a_receipt() {
        let signer = Signer::new(&[7; 32]);
        let text = signer.sign(&document(&signer));
        for place in 0..text.len() {
            for bit in [0x01, 0x04, 0x20] {
                let mut changed = text.clone().into_bytes();
                changed[place] ^= bit;
                if let Ok(changed) = String::from_utf8(changed) {
                    assert!(verify_receipt(&changed).is_err(), "byte {place} changed by {bit:#x}");
                }
            }
            assert!(verify_receipt(&text[..place]).is_err(), "cut off at {place}");
        }
        assert!(verify_receipt(&format!("{text}\n")).is_err(), "one line more");
    }

    #[test]
    fn a_receipt_with_another_key_has_another_fingerprint() {
        let (ours, other) = (Signer::new(&[7; 32]), Signer::new(&[8; 32]));
        let forged = verify_receipt(&other.sign(&document(&other))).expect("a receipt of its own");
        assert_ne!(forged.key.fingerprint, ours.key().fingerprint);
        assert!(verify_receipt(&other.sign(&document(&ours))).is_err(), "our key, their signature");
    }
}
