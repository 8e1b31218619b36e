//! What an operation is: a request with a name, an effect and a response; and how JSON becomes one.

use std::sync::{Arc, OnceLock};

use schemars::JsonSchema;
use schemars::generate::Contract;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::caller::Caller;
use crate::error::{ErrorCode, ServiceError};
use crate::profile::Profile;
use crate::request;
use crate::schema::{self, Described, Nulls};
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

    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|effect| effect.as_str() == word)
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
    /// About the database as a whole: refused to callers who may see only some workspaces.
    const IS_DATABASE_WIDE: bool = false;
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
    pub is_database_wide: bool,
    /// Where an MCP client is shown it, beside [`Profile::Full`]; see [`Self::is_in`].
    pub profiles: &'static [Profile],
    schemas: &'static LazySchemas,
    call: fn(&Arc<Service>, &Caller, Value, &Value) -> Result<Value, ServiceError>,
}

/// Made once, when they are first needed: every call holds its request against the schema.
#[derive(Debug)]
pub(crate) struct LazySchemas {
    input: OnceLock<Described>,
    output: OnceLock<Described>,
    make_input: fn() -> Described,
    make_output: fn() -> Described,
}

impl LazySchemas {
    pub(crate) const fn of<O: Operation>() -> Self {
        Self {
            input: OnceLock::new(),
            output: OnceLock::new(),
            make_input: || {
                let nulls = if O::NULL_CLEARS { Nulls::Clear } else { Nulls::AreAbsent };
                schema::described::<O>(Contract::Deserialize, nulls)
            },
            make_output: || schema::described::<O::Response>(Contract::Serialize, Nulls::AreAbsent),
        }
    }
}

impl OperationInfo {
    pub(crate) const fn of<O: Operation>(schemas: &'static LazySchemas, profiles: &'static [Profile]) -> Self {
        Self {
            name: O::NAME,
            effect: O::EFFECT,
            is_idempotent: O::IS_IDEMPOTENT,
            is_open_world: O::IS_OPEN_WORLD,
            is_database_wide: O::IS_DATABASE_WIDE,
            profiles,
            schemas,
            call: call::<O>,
        }
    }

    /// The fields of a request, without the operation's description.
    pub fn input_schema(&self) -> Value {
        self.input().schema.clone()
    }

    pub fn output_schema(&self) -> Value {
        let schemas = self.schemas;
        schemas.output.get_or_init(schemas.make_output).schema.clone()
    }

    /// The request's documentation.
    pub fn description(&self) -> String {
        self.input().description.clone()
    }

    pub fn is_in(&self, profile: Profile) -> bool {
        profile == Profile::Full || self.profiles.contains(&profile)
    }

    pub fn call(&self, service: &Arc<Service>, caller: &Caller, request: Value) -> Result<Value, ServiceError> {
        (self.call)(service, caller, request, &self.input().schema)
    }

    fn input(&self) -> &'static Described {
        let schemas = self.schemas;
        schemas.input.get_or_init(schemas.make_input)
    }
}

fn call<O: Operation>(
    service: &Arc<Service>,
    caller: &Caller,
    request: Value,
    schema: &Value,
) -> Result<Value, ServiceError> {
    let workspace = request.get("workspace_id").and_then(Value::as_str).map(str::to_owned);
    let request: O = request::parse(request, schema, O::NULL_CLEARS).map_err(ServiceError::bounded)?;
    let response = request.run(service, caller);
    let response = response.map_err(|error| error.about_workspace(workspace.as_deref()).bounded())?;
    serde_json::to_value(response)
        .map_err(|error| ServiceError::new(ErrorCode::Internal, format!("the answer cannot be written: {error}")))
}
