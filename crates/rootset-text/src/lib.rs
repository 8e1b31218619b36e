//! What Rootset reads out of text: search terms, chunks, entities and relations, names, secrets, matches, snippets,
//! and what of it may be shown as it is.
//!
//! Not here: storage, models, clocks, anything remote. Every public function is total and pure: any text is valid
//! input, equal text gives equal output, and the time taken grows with the length of the text, not with its square.
//!
//! How the modules build on each other: [`terms`], [`matching`], [`extract`] and [`snippet`] all see text through one
//! scanner (`scan`), so that what is found, what is forgotten and what is extracted agree on where a word or an
//! identifier begins and ends.

pub mod about;
pub mod chunks;
pub mod claims;
pub mod common_terms;
pub mod dates;
pub mod extract;
pub mod frame;
pub mod invisible;
pub mod matching;
pub mod names;

pub mod said;
pub mod secrets;
pub mod sentence_sets;
pub mod snippet;
pub mod terms;

mod chars;
mod scan;
mod sentences;
mod stem;
mod words;

pub use words::is_stop as is_stop_word;
