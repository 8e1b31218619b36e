//! References as stored: a version byte in front, so that a later form can be told from this one.

use rootset_model::code::References;

use crate::error::StoreError;

const VERSION: u8 = 1;

pub(crate) fn pack(references: &References) -> Vec<u8> {
    postcard::to_extend(references, vec![VERSION]).expect("strings and numbers always serialise")
}

pub(crate) fn unpack(packed: &[u8]) -> Result<References, StoreError> {
    let unreadable = StoreError::UnreadableValue("the references of a file");
    match packed.split_first() {
        Some((&VERSION, rest)) => postcard::from_bytes(rest).map_err(|_| unreadable),
        _ => Err(unreadable),
    }
}

pub(crate) fn is_readable(packed: &[u8]) -> bool {
    unpack(packed).is_ok()
}
