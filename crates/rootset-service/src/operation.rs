//! What an operation is: a request with a name, an effect and a response; and how JSON becomes one.

use std::sync::Arc;

use schemars::{JsonSchema, generate::SchemaSettings};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::caller::Caller;
use crate::error::{ErrorCode, ServiceError};
use crate::request;
use crate::service::Service;

/// What an operation may do. One of five words, also the scopes of tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    Read,
    Write,
    /// Removes, reversibly.
    Destroy,
    /// Removes for good.
    Purge,
    /// The database, tokens and workspaces.
    Admin,
}

impl Effect {
    pub const ALL: [Self; 5] = [Self::Read, Self::Write, Self::Destroy, Self::Purge, Self::Admin];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Destroy => "destroy",
            Self::Purge => "purge",
            Self::Admin => "admin",
        }
    }
}

/// One thing that a user or an agent can ask for.
pub trait Operation: DeserializeOwned + JsonSchema + Send + 'static {
    /// Stable name: MCP tool, HTTP path segment, argument of `rootset call`.
    const NAME: &'static str;
    const EFFECT: Effect;
    /// Calling it again with the same arguments changes nothing more.
    const IS_IDEMPOTENT: bool;
    /// May reach outside the database: a model's endpoint.
    const IS_OPEN_WORLD: bool = false;
    /// In updates a `null` clears its field; everywhere else it means absent.
    const NULL_CLEARS: bool = false;
    type Response: Serialize + JsonSchema;

    fn run(self, service: &Arc<Service>, caller: &Caller) -> Result<Self::Response, ServiceError>;
}

/// An operation without its types: what front ends generate themselves from.
#[derive(Clone, Copy, Debug)]
pub struct OperationInfo {
    pub name: &'static str,
    pub effect: Effect,
    pub is_idempotent: bool,
    pub is_open_world: bool,
    input_schema: fn() -> Value,
    output_schema: fn() -> Value,
    call: fn(&Arc<Service>, &Caller, Value) -> Result<Value, ServiceError>,
}

impl OperationInfo {
    pub(crate) const fn of<O: Operation>() -> Self {
        Self {
            name: O::NAME,
            effect: O::EFFECT,
            is_idempotent: O::IS_IDEMPOTENT,
            is_open_world: O::IS_OPEN_WORLD,
            input_schema: schema_of::<O>,
            output_schema: schema_of::<O::Response>,
            call: call::<O>,
        }
    }

    pub fn input_schema(&self) -> Value {
        (self.input_schema)()
    }

    pub fn output_schema(&self) -> Value {
        (self.output_schema)()
    }

    /// The first line of the request's documentation.
    pub fn description(&self) -> String {
        let schema = self.input_schema();
        schema.get("description").and_then(Value::as_str).unwrap_or_default().to_owned()
    }

    pub fn call(&self, service: &Arc<Service>, caller: &Caller, request: Value) -> Result<Value, ServiceError> {
        (self.call)(service, caller, request)
    }
}

fn schema_of<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    settings.into_generator().into_root_schema_for::<T>().into()
}

fn call<O: Operation>(service: &Arc<Service>, caller: &Caller, request: Value) -> Result<Value, ServiceError> {
    let workspace = request.get("workspace_id").and_then(Value::as_str).map(str::to_owned);
    let request: O = request::parse(request, &schema_of::<O>(), O::NULL_CLEARS)?;
    let response = request.run(service, caller).map_err(|error| error.about_workspace(workspace.as_deref()))?;
    serde_json::to_value(response)
        .map_err(|error| ServiceError::new(ErrorCode::Internal, format!("the answer cannot be written: {error}")))
}
