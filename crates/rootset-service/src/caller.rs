//! Who calls, and through which front end: the service decides the few rules that differ by front end from this.

use std::collections::BTreeSet;
use std::fmt::Display;
use std::net::IpAddr;
use std::sync::Arc;

use rootset_api::{Detail, Effect, ErrorCode, Irreversible, OperationInfo, TokenTrust};
use rootset_model::names::{is_reserved_actor, meant_workspace};
use rootset_model::{Channel, Origin, Timestamp, TokenId, Trust, WorkspaceKey};
use rootset_store::{Author, Credential, Way};
use serde_json::{Value, json};

use crate::error::ServiceError;
use crate::personal::Person;
use crate::projects::CurrentWorkspace;

/// The source of what people say.
pub(crate) const USER_SOURCE: &str = "user";

/// The door a request came through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrontEnd {
    CommandLine,
    Http,
    Mcp,
}

impl FrontEnd {
    /// What everybody who comes through this door is, unless the front end knows better.
    fn origin(self) -> (Channel, Trust) {
        match self {
            Self::CommandLine => (Channel::Cli, Trust::Person),
            Self::Http => (Channel::Http, Trust::Agent),
            Self::Mcp => (Channel::Mcp, Trust::Agent),
        }
    }
}

#[derive(Clone, Debug)]
pub struct Caller {
    pub front_end: FrontEnd,
    /// Over the network, whatever is spoken there: what lies on this machine is not the caller's own.
    pub is_remote: bool,
    /// Audit's actor and a memory's `written_by`: `cli`, a token's name or an MCP client's.
    pub actor: String,
    /// The workspace of requests that name none.
    pub workspace: CurrentWorkspace,
    pub progress: Progress,
    pub rights: Rights,
    /// When these rights end by themselves. What the caller hands on to others ends no later.
    pub rights_expire_at: Option<Timestamp>,
    /// Whom the caller acts for: whose personal memory it is. `None`: nobody's.
    pub person: Option<Person>,
    /// The token that these rights come from.
    pub token: Option<CallerToken>,
    /// The other end of the connection, where there is one.
    pub address: Option<IpAddr>,
    /// How what the caller writes came in. Set by the front end, never by a request.
    pub channel: Channel,
    /// How far what the caller writes is believed. Set by the front end or a token; a request can only lower it.
    pub trust: Trust,
    /// A person was asked about this very request and agreed: needed by what an agent must not do alone.
    pub is_confirmed_by_person: bool,
    /// How much answers say to requests that leave it open.
    pub detail: Detail,
}

impl Caller {
    /// Somebody who may do everything: at the command line, who can open the file can do anything to it.
    pub fn new(front_end: FrontEnd, actor: impl Into<String>, workspace: impl Into<CurrentWorkspace>) -> Self {
        let (channel, trust) = front_end.origin();
        Self {
            front_end,
            is_remote: front_end == FrontEnd::Http,
            channel,
            trust,
            actor: signed(channel, actor.into()),
            workspace: workspace.into(),
            progress: Progress::default(),
            rights: Rights::default(),
            rights_expire_at: None,
            person: (front_end != FrontEnd::Http).then_some(Person::LOCAL),
            token: None,
            address: None,
            is_confirmed_by_person: false,
            detail: Detail::Full,
        }
    }
}

/// What a client or a token calls itself. None of them can sign as the person or as Rootset itself.
fn signed(channel: Channel, actor: String) -> String {
    if channel != Channel::Cli && is_reserved_actor(&actor) { format!("{}-{actor}", channel.as_str()) } else { actor }
}

impl Caller {
    /// As the audit trail names the caller.
    pub(crate) fn author(&self) -> Author<'_> {
        let way = Way {
            channel: self.channel,
            address: self.address,
            token: self.token.as_ref().map(|token| token.id),
            credential: self.token.as_ref().map(|token| token.credential),
        };
        Author { actor: &self.actor, origin: Some(self.origin()), way: Some(way) }
    }

    /// The same caller, speaking MCP over HTTP: a model acts there, whoever its token belongs to.
    #[must_use]
    pub fn through_mcp(self) -> Self {
        Self {
            front_end: FrontEnd::Mcp,
            channel: Channel::Mcp,
            trust: self.trust.min(Trust::Agent),
            is_confirmed_by_person: false,
            ..self
        }
    }

    /// The same caller, handing on a file of others that a person has looked at and agreed to.
    #[must_use]
    pub fn importing(self) -> Self {
        Self { channel: Channel::Import, trust: self.trust.min(Trust::Imported), is_confirmed_by_person: true, ..self }
    }

    pub(crate) fn origin(&self) -> Origin {
        Origin { channel: self.channel, trust: self.trust, has_consent: self.is_confirmed_by_person }
    }

    /// The source of a memory whose writer does not say. Only people write as people.
    pub(crate) fn default_source(&self) -> &'static str {
        match self.trust {
            Trust::Person => USER_SOURCE,
            Trust::Agent | Trust::Imported | Trust::Untrusted => "agent",
        }
    }

    /// Whether the caller may say that a memory comes from the user. A file that a person imports says what it says.
    pub(crate) fn may_claim_user(&self) -> bool {
        self.trust == Trust::Person || self.channel == Channel::Import
    }

    /// A refusal that a person's consent would resolve: an agent's person is asked for it, with the call to make then.
    pub(crate) fn or_ask_person(
        &self,
        mut error: ServiceError,
        operation: &str,
        arguments: impl FnOnce() -> Value,
    ) -> ServiceError {
        let needs_person = |details: &Value| details.get("needs_person") == Some(&Value::Bool(true));
        if self.front_end == FrontEnd::Mcp
            && error.code == ErrorCode::Forbidden
            && let Some(details) = error.details.as_mut().filter(|details| needs_person(details))
        {
            details["next"] = json!({"operation": operation, "arguments": arguments()});
            error.code = ErrorCode::ConfirmationRequired;
        }
        error
    }

    /// Whether what must not be done lightly waits for a person. An agent's word is not enough for that: through MCP a
    /// person has to be asked, or a terminal used.
    pub(crate) fn needs_person(&self) -> bool {
        self.front_end == FrontEnd::Mcp && !self.is_confirmed_by_person
    }

    /// Whether a plan that erases is confirmed: what the request cannot tell, and so [`rootset_api::Irreversible`] of it.
    pub(crate) fn confirms_for_good(&self, confirm: Option<bool>) -> bool {
        !self.needs_person() && (confirm == Some(true) || self.is_confirmed_by_person)
    }

    /// The scope that an irreversible request of this operation needs beyond the operation's own.
    pub(crate) fn need_scope_for(
        &self,
        irreversible: Irreversible,
        operation: &OperationInfo,
    ) -> Result<(), ServiceError> {
        let Some(scope) = irreversible.scope_beyond(operation.effect) else { return Ok(()) };
        self.need_scope(scope, || match irreversible {
            Irreversible::PLAN_THAT_ERASES => "a plan that erases for good".to_owned(),
            Irreversible { argument: Some(argument), .. } => format!("`{argument}: true`"),
            Irreversible { argument: None, .. } => format!("`{}`", operation.name),
        })
    }

    /// What only some requests of an operation need beyond the operation's own effect.
    pub(crate) fn need_scope<W: Display>(&self, effect: Effect, what: impl FnOnce() -> W) -> Result<(), ServiceError> {
        if self.rights.allow_effect(effect) {
            return Ok(());
        }
        Err(ServiceError::new(
            ErrorCode::Forbidden,
            format!("{} needs the scope `{}`, which {} does not have", what(), effect.as_str(), self.holder()),
        ))
    }

    /// The database as a whole is for those who may see all of it.
    pub(crate) fn need_whole_database<W: Display>(&self, what: impl FnOnce() -> W) -> Result<(), ServiceError> {
        match self.rights.workspaces {
            None => Ok(()),
            Some(_) => Err(ServiceError::new(
                ErrorCode::Forbidden,
                format!("{} affects the whole database, but {} is limited to some workspaces", what(), self.holder()),
            )),
        }
    }

    /// What the rights belong to.
    fn holder(&self) -> &'static str {
        if self.is_remote { "this token" } else { "this connection" }
    }

    /// The refusal of something that is not confirmed for good. An agent hears that its own `confirm` will not do.
    pub(crate) fn unconfirmed_for_good(&self, mut error: ServiceError) -> ServiceError {
        if self.front_end == FrontEnd::Mcp && error.code == ErrorCode::ConfirmationRequired {
            error.details.get_or_insert_with(|| json!({}))["needs_person"] = true.into();
        }
        error
    }
}

/// A token as its holder's requests carry it.
#[derive(Clone, Debug)]
pub struct CallerToken {
    pub id: TokenId,
    /// The person that it acts for.
    pub owner: Option<String>,
    pub trust: TokenTrust,
    /// As it is written down: to the hour.
    pub last_used_at: Option<Timestamp>,
    /// What shows a database that checks tokens itself whose request this is.
    pub credential: Credential,
}

/// What a caller may do, and where. By default: everything, everywhere.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rights {
    /// `None`: all of them.
    pub scopes: Option<BTreeSet<Effect>>,
    /// `None`: all of them. To this caller, others do not exist.
    pub workspaces: Option<BTreeSet<String>>,
    /// The numbers of those workspaces, where the rights are bound to them: a workspace that was made later under the name of
    /// one that is gone is another.
    pub numbers: Option<BTreeSet<WorkspaceKey>>,
    /// Whether the caller's own personal workspace is one of them, by whatever name and number.
    pub also_personal: bool,
    /// Folders below which code may be indexed, of those that the settings allow; `None`: all of them.
    pub roots: Option<Vec<String>>,
}

impl Rights {
    pub fn allow_effect(&self, effect: Effect) -> bool {
        self.scopes.as_ref().is_none_or(|scopes| scopes.contains(&effect))
    }

    /// Whether some request of the operation can be carried out with these rights.
    pub fn allow_operation(&self, operation: &OperationInfo) -> bool {
        let scope_always = operation.irreversible.iter().find(|it| it.argument.is_none());
        let scope_always = scope_always.and_then(|it| it.scope_beyond(operation.effect));
        self.allow_effect(operation.effect)
            && scope_always.is_none_or(|scope| self.allow_effect(scope))
            && (!operation.is_database_wide || self.workspaces.is_none())
    }

    pub fn allow_workspace(&self, workspace: &str) -> bool {
        self.workspaces.as_ref().is_none_or(|workspaces| workspaces.contains(meant_workspace(workspace)))
    }

    /// The same for a workspace that was found under its name.
    pub fn allow_found(&self, key: WorkspaceKey, workspace: &str) -> bool {
        self.allow_workspace(workspace) && self.numbers.as_ref().is_none_or(|numbers| numbers.contains(&key))
    }
}

/// Told how far long work has come. Saying nothing is the default.
#[derive(Clone, Default)]
pub struct Progress(Option<Arc<dyn Fn(u64, u64) + Send + Sync>>);

impl Progress {
    /// `tell` is called with what is done and what there is to do in all.
    pub fn to(tell: impl Fn(u64, u64) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(tell)))
    }

    pub(crate) fn report(&self, done: u64, total: u64) {
        if let Some(tell) = &self.0 {
            tell(done, total);
        }
    }
}

impl std::fmt::Debug for Progress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if self.0.is_some() { "Progress(told)" } else { "Progress(silent)" })
    }
}
