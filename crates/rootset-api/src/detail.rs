//! How much an answer says: everything, or what a model that asked can use. Which fields that are is decided per type
//! ([`brief`](crate::brief)); what an answer is by default, by the front end.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::error::Error;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Detail {
    /// Names, texts, dates, who said it and tags; no ids, hashes or counters.
    Brief,
    /// Everything.
    #[default]
    Full,
}

impl Detail {
    /// The argument of every operation that has a brief answer.
    pub const FIELD: &str = "detail";

    /// What the request asks for. It is about the form of the answer, so the operation itself never sees it.
    pub fn take_from(request: &mut Value) -> Result<Option<Self>, Error> {
        match request.as_object_mut().and_then(|fields| fields.shift_remove(Self::FIELD)) {
            None | Some(Value::Null) => Ok(None),
            Some(given) => match serde_json::from_value(given.clone()) {
                Ok(detail) => Ok(Some(detail)),
                Err(_) => Err(Error::invalid(format!("`detail` must be one of `brief`, `full`, not `{given}`"))),
            },
        }
    }

    /// What a request asks for, as far as it can be read.
    pub fn asked_in(request: &Value) -> Option<Self> {
        serde_json::from_value(request.get(Self::FIELD)?.clone()).ok()
    }

    pub(crate) fn field_schema() -> Value {
        json!({"type": "string", "enum": ["brief", "full"], "description": "`full` adds ids, times and counts."})
    }
}
