//! What an operation is: a request with a name, an effect and a response. What carries it out is elsewhere.

use std::sync::OnceLock;

use schemars::JsonSchema;
use schemars::generate::Contract;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::effect::Effect;
use crate::error::Error;
use crate::irreversible::Irreversible;
use crate::parsing;
use crate::profile::Profile;
use crate::schema::{self, Described};

/// One thing that a user or an agent can ask for. Its documentation describes it in every front end.
pub trait Request: Serialize + DeserializeOwned + JsonSchema + Send + 'static {
    /// Stable name: MCP tool, HTTP path segment, argument of `rootset call`.
    const NAME: &'static str;
    const EFFECT: Effect;
    /// Calling it again with the same arguments changes nothing more.
    const IS_IDEMPOTENT: bool = false;
    /// May reach outside the database: a model's endpoint.
    const IS_OPEN_WORLD: bool = false;
    /// About the database as a whole: refused to callers who may see only some workspaces.
    const IS_DATABASE_WIDE: bool = false;
    /// Whether the answer has a brief form, and requests say with `detail` which one they want.
    const HAS_BRIEF: bool = false;
    /// Everything that can make a request one that an agent must not make alone.
    const IRREVERSIBLE: &'static [Irreversible] = &[];
    /// The argument with which a request that else removes nothing does so.
    const DESTROYS_WITH: Option<&'static str> = None;
    /// Carries many things, or large ones, at once. Other requests are short, and a server refuses long ones unread.
    const IS_BULKY: bool = false;
    type Response: Serialize + DeserializeOwned + JsonSchema;
    /// The answer without what a model cannot use; the response itself where there is nothing to leave out.
    type Brief: From<Self::Response> + Serialize + JsonSchema;

    /// The workspace that the request names.
    fn workspace_id(&self) -> Option<&str> {
        None
    }

    /// Whether this request removes something, so that it needs the scope `destroy`: with [`Self::DESTROYS_WITH`].
    fn destroys(&self) -> bool {
        false
    }

    /// Why this request needs a person, if it does: one of [`Self::IRREVERSIBLE`].
    fn irreversible(&self) -> Option<Irreversible> {
        None
    }

    /// What is known of the operation without its types.
    fn operation() -> &'static OperationInfo;

    /// From JSON: an unknown field or a wrong type is an error that names it.
    fn parse(request: Value) -> Result<Self, Error> {
        parsing::parse(request, &Self::operation().input().schema)
    }
}

/// An operation without its types: what front ends generate themselves from.
#[derive(Clone, Copy, Debug)]
pub struct OperationInfo {
    pub name: &'static str,
    pub effect: Effect,
    pub is_idempotent: bool,
    pub is_open_world: bool,
    pub is_database_wide: bool,
    /// What can make a request one that an agent must not make alone.
    pub irreversible: &'static [Irreversible],
    /// With which argument it removes something, although its effect is less than that.
    pub destroys_with: Option<&'static str>,
    pub is_bulky: bool,
    pub has_brief: bool,
    /// Where an MCP client is shown it, beside [`Profile::Full`]; see [`Self::is_in`].
    pub profiles: &'static [Profile],
    /// A request as somebody might send it.
    pub example: fn() -> Value,
    schemas: &'static LazySchemas,
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
    pub(crate) const fn of<R: Request>() -> Self {
        Self {
            input: OnceLock::new(),
            output: OnceLock::new(),
            make_input: || {
                let described = schema::described::<R>(Contract::Deserialize);
                if R::HAS_BRIEF { described.with_detail() } else { described }
            },
            make_output: || {
                let full = schema::described::<R::Response>(Contract::Serialize);
                if !R::HAS_BRIEF {
                    return full;
                }
                full.or(schema::described::<R::Brief>(Contract::Serialize))
            },
        }
    }
}

impl OperationInfo {
    pub(crate) const fn of<R: Request>(
        schemas: &'static LazySchemas,
        profiles: &'static [Profile],
        example: fn() -> Value,
    ) -> Self {
        Self {
            name: R::NAME,
            effect: R::EFFECT,
            is_idempotent: R::IS_IDEMPOTENT,
            is_open_world: R::IS_OPEN_WORLD,
            is_database_wide: R::IS_DATABASE_WIDE,
            irreversible: R::IRREVERSIBLE,
            destroys_with: R::DESTROYS_WITH,
            is_bulky: R::IS_BULKY,
            has_brief: R::HAS_BRIEF,
            profiles,
            example,
            schemas,
        }
    }

    /// The fields of a request, without the operation's description.
    pub fn input_schema(&self) -> &'static Value {
        &self.input().schema
    }

    /// The fields that a model needs to know: those that are marked [`schema::RARE`] work all the same.
    pub fn essential_schema(&self) -> &'static Value {
        &self.input().essential
    }

    pub fn output_schema(&self) -> &'static Value {
        let schemas = self.schemas;
        &schemas.output.get_or_init(schemas.make_output).schema
    }

    /// The request's documentation.
    pub fn description(&self) -> &'static str {
        &self.input().description
    }

    /// The documentation of one field of the request.
    pub fn field_description(&self, field: &str) -> Option<&'static str> {
        self.input().schema.get("properties")?.get(field)?.get("description")?.as_str()
    }

    pub fn is_in(&self, profile: Profile) -> bool {
        profile == Profile::Full || self.profiles.contains(&profile)
    }

    fn input(&self) -> &'static Described {
        let schemas = self.schemas;
        schemas.input.get_or_init(schemas.make_input)
    }
}
