//! How answers look to people. JSON is never made here, and nothing here writes: text goes in, text comes out.

mod amounts;
mod digest;
mod hints;
mod plan;
mod styles;
mod table;
mod text;
mod time;
mod waiting;

pub use amounts::amounts;
pub use digest::digest;
pub use hints::for_people;
pub use plan::{ShownPlan, applied, backups_after, deleted};
pub use styles::{bad, bold, dim, good, warning};
pub use table::{Column, Table};
pub use text::{bytes, counted, escaped, escaped_in_json, grouped, one_line, take_escaped, word};
pub use time::{age, local_midnight, now, short, with_age};
pub use waiting::{waiting_source, what_to_type};
