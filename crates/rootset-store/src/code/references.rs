//! References as stored: a version byte in front, so that a later form can be told from this one.

use rootset_model::code::References;

use crate::error::StoreError;

const VERSION: u8 = 2;

pub(crate) fn pack(references: &References) -> Vec<u8> {
    postcard::to_extend(references, vec![VERSION]).expect("strings and numbers always serialise")
}

pub(crate) fn unpack(packed: &[u8]) -> Result<References, StoreError> {
    let unreadable = StoreError::UnreadableValue("the references of a file");
    match packed.split_first() {
        Some((&VERSION, rest)) => postcard::from_bytes(rest).map_err(|_| unreadable),
        Some((&first::VERSION, rest)) => {
            postcard::from_bytes::<first::References>(rest).map(Into::into).map_err(|_| unreadable)
        }
        _ => Err(unreadable),
    }
}

pub(crate) fn is_readable(packed: &[u8]) -> bool {
    unpack(packed).is_ok()
}

/// The first form, as it stands in databases whose repositories were not indexed since.
mod first {
    use rootset_model::code::{Base, Call, Import};
    use serde::Deserialize;

    pub(super) const VERSION: u8 = 1;

    #[derive(Deserialize)]
    pub(super) struct References {
        imports: Vec<(String, Option<String>, u32)>,
        calls: Vec<(u32, String, Option<String>, u32)>,
        bases: Vec<Base>,
    }

    impl From<References> for super::References {
        fn from(first: References) -> Self {
            let import = |(target, local, line)| Import { target, local, is_exported: false, line };
            let call = |(caller, name, receiver, line)| Call { caller, name, receiver, from: None, line };
            Self {
                imports: first.imports.into_iter().map(import).collect(),
                calls: first.calls.into_iter().map(call).collect(),
                bases: first.bases,
                ..Self::default()
            }
        }
    }

    #[cfg(test)]
    mod tests {
        #[test]
        fn what_an_earlier_version_wrote_is_read() {
            let import = ("app.store", Some("store"), 3_u32);
            let call = (1_u32, "save", None::<&str>, 7_u32);
            let bases: [u8; 0] = [];
            let packed =
                postcard::to_extend(&(vec![import], vec![call], bases.to_vec()), vec![super::VERSION]).unwrap();
            let read = super::super::unpack(&packed).unwrap();
            assert_eq!((read.imports[0].target.as_str(), read.imports[0].line), ("app.store", 3));
            assert_eq!((read.calls[0].name.as_str(), read.calls[0].line), ("save", 7));
        }
    }
}
