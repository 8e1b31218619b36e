//! Of whom a memory is: of the project at hand, or of the person wherever they work.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where to look, or where to put something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MemoryOf {
    Project,
    Personal,
    Both,
}
