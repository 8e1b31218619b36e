//! The server as the protocol library sees it: who calls, which tool, and with which result.

use std::sync::{Arc, OnceLock};

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CustomRequest, CustomResult, DiscoverResult,
    ErrorCode as ProtocolErrorCode, GetPromptRequestParams, GetPromptResponse, Implementation, InitializeRequestParams,
    InitializeResult, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
    PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use rootset_api::{Detail, Effect, catalogue, nearest};
use rootset_service::{Caller, FrontEnd, Rights, Service, ServiceError};
use serde_json::{Value, json};
use tokio::sync::OnceCell;

use crate::answer;
use crate::calls::{Calls, Cancelled};
use crate::confirmation::{self, ANSWER_WITHIN, Asking, NextCall, OpenQuestion, OpenQuestions};
use crate::folders::{Place, offers_folders};
use crate::instructions::{Current, instructions};
use crate::offer::{Offer, view_of};
use crate::options::McpOptions;
use crate::{prompts, resources, tools};

/// So many tools are named to somebody who called one that is not there.
const NEAR_TOOLS_MAX: usize = 3;

/// Of a client that does not say who it is.
const NAMELESS_CLIENT: &str = "mcp";
const ACTOR_CHARS_MAX: usize = 64;

/// One server for any number of connections; cloning shares everything.
#[derive(Clone, Debug)]
pub struct McpServer {
    shared: Arc<Shared>,
    /// Every request must bring its own rights.
    #[cfg(feature = "http")]
    is_over_http: bool,
}

#[derive(Debug)]
struct Shared {
    options: McpOptions,
    calls: Calls,
    questions: OpenQuestions,
    /// Made when they are first asked for: starting must be quick.
    tools: OnceLock<Vec<Tool>>,
    /// Of the one client over stdio; decided with its first request.
    place: OnceCell<Place>,
}

impl McpServer {
    pub fn new(service: Arc<Service>, options: McpOptions) -> Self {
        let shared = Shared {
            options,
            calls: Calls::new(service),
            questions: OpenQuestions::default(),
            tools: OnceLock::new(),
            place: OnceCell::new(),
        };
        Self {
            shared: Arc::new(shared),
            #[cfg(feature = "http")]
            is_over_http: false,
        }
    }

    #[cfg(feature = "http")]
    pub(crate) fn over_http(self) -> Self {
        Self { is_over_http: true, ..self }
    }

    pub(crate) fn calls(&self) -> &Calls {
        &self.shared.calls
    }

    fn options(&self) -> &McpOptions {
        &self.shared.options
    }

    fn tools(&self) -> &[Tool] {
        self.shared.tools.get_or_init(|| tools::tools(&self.options().profiles))
    }

    fn offer<'a>(&'a self, rights: &'a Rights) -> Offer<'a> {
        let options = self.options();
        #[cfg(feature = "http")]
        let has_terminal = !self.is_over_http;
        #[cfg(not(feature = "http"))]
        let has_terminal = true;
        let terminal = Some(options.terminal_command.as_str()).filter(|_| has_terminal);
        Offer { profiles: &options.profiles, rights, terminal }
    }

    /// The error of a tool and not of the protocol: only the former reaches the model, which can call another one.
    fn unknown_tool(&self, name: &str, rights: &Rights) -> ServiceError {
        let shown: String = name.chars().take(80).collect();
        let error = ServiceError::invalid(format!("unknown tool `{shown}`"));
        if let Some(instead) = view_of(name).filter(|instead| self.offer(rights).has_all_named_in(instead)) {
            return error.with_hint(format!("use {instead}"));
        }
        let offer = self.offer(rights);
        let offered = || self.options().profiles.operations().map(|it| it.name).filter(|tool| offer.has(tool));
        let near = nearest(name, offered(), NEAR_TOOLS_MAX);
        let near = if near.is_empty() { offered().collect() } else { near };
        let near: Vec<String> = near.into_iter().map(|tool| format!("`{tool}`")).collect();
        let exists = catalogue().iter().any(|operation| operation.name == name);
        let elsewhere = if exists { "; it is in the profile `full`, which a person can choose" } else { "" };
        error.with_hint(format!("tools here: {}{elsewhere}", near.join(", ")))
    }

    /// A failure as this caller's model reads it.
    fn refused(&self, error: ServiceError, rights: &Rights) -> CallToolResponse {
        answer::result(Err(self.offer(rights).fitting(error))).into()
    }

    /// Where this agent works; over stdio the folders of its client may decide, which is asked once.
    async fn place(&self, context: &RequestContext<RoleServer>) -> &Place {
        let options = self.options();
        let decide = || async {
            let decided = match &options.by_folders {
                Some(by_folders) => by_folders.place(context).await,
                None => None,
            };
            decided.unwrap_or_else(|| self.first_place())
        };
        self.shared.place.get_or_init(decide).await
    }

    /// The place before a client has told anything.
    fn first_place(&self) -> Place {
        Place { workspace: self.options().workspace.clone(), rights: self.options().rights.clone() }
    }

    async fn caller(&self, context: &RequestContext<RoleServer>) -> Result<Caller, ErrorData> {
        #[cfg(feature = "http")]
        if self.is_over_http {
            return caller_over_http(context);
        }
        Ok(self.local_caller(context, self.place(context).await))
    }

    /// The client at the other end of our pipes.
    fn local_caller(&self, context: &RequestContext<RoleServer>, place: &Place) -> Caller {
        let options = self.options();
        let client = || context.client_info().map(|client| safe_name(&client.name));
        let actor = options.actor.clone().or_else(client).unwrap_or_else(|| NAMELESS_CLIENT.to_owned());
        let caller = Caller::new(FrontEnd::Mcp, actor, place.workspace.clone());
        Caller { rights: place.rights.clone(), person: options.person.clone(), detail: Detail::Brief, ..caller }
    }

    /// Runs an operation for a part of the protocol that is not a tool.
    async fn ask_service(
        &self,
        operation: &str,
        arguments: Value,
        context: &RequestContext<RoleServer>,
    ) -> Result<Result<Value, ServiceError>, ErrorData> {
        let caller = Caller { detail: Detail::Full, ..self.caller(context).await? };
        self.shared.calls.call(caller, operation, arguments, context).await.map_err(cancelled)
    }

    /// The service wants a person's consent to `next`: asks for it where that can be done.
    async fn confirm(
        &self,
        asked_for: (&str, Value),
        next: NextCall,
        error: ServiceError,
        caller: Caller,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let asking = Asking::of(context);
        if asking == Asking::Impossible {
            let terminal = self.terminal_command(&caller, &next);
            let error = confirmation::without_person(error, &next, &terminal);
            return Ok(self.refused(error, &caller.rights));
        }
        let question = confirmation::question(&error, &next, &self.about_plan(&next, context).await?);
        if asking == Asking::InRounds {
            let (tool, arguments) = (asked_for.0.to_owned(), asked_for.1);
            let open = OpenQuestion { actor: caller.actor, tool, arguments, next, question };
            return Ok(self.shared.questions.ask(open).into());
        }
        let asked = context.peer.create_elicitation_with_timeout(question, Some(ANSWER_WITHIN));
        let is_agreed = tokio::select! {
            biased;
            () = context.ct.cancelled() => return Err(cancelled(Cancelled)),
            given = asked => match given {
                Ok(given) => confirmation::is_agreed(&given),
                Err(error) => {
                    tracing::warn!(%error, "a person could not be asked");
                    false
                }
            },
        };
        self.do_if_agreed(is_agreed, next, caller, context).await
    }

    /// The second round of a call that ended with a question. Without an answer, the question is asked again.
    async fn go_on(
        &self,
        handle: &str,
        request: &CallToolRequestParams,
        caller: Caller,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = Value::Object(request.arguments.clone().unwrap_or_default());
        let open = self.shared.questions.take(handle, &caller.actor, &request.name, &arguments).ok_or_else(|| {
            let problem = "`requestState` belongs to no open question of this call: it was answered, or is too old";
            ErrorData::invalid_params(problem, Some(json!({"hint": "make the call again without it"})))
        })?;
        match confirmation::answer_among(request.input_responses.as_ref()) {
            None => Ok(self.shared.questions.ask(open).into()),
            Some(given) => self.do_if_agreed(confirmation::is_agreed(&given), open.next, caller, context).await,
        }
    }

    async fn do_if_agreed(
        &self,
        is_agreed: bool,
        next: NextCall,
        caller: Caller,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if !is_agreed {
            return Ok(answer::result(Err(confirmation::declined())).into());
        }
        let caller = Caller { is_confirmed_by_person: true, ..caller };
        let answer = self.shared.calls.call(caller, &next.operation, next.arguments, context).await;
        Ok(answer::result(answer.map_err(cancelled)?).into())
    }

    /// What the plan in question would remove: nobody should agree to a number.
    async fn about_plan(&self, next: &NextCall, context: &RequestContext<RoleServer>) -> Result<String, ErrorData> {
        const SHOWN: i64 = 10;
        let is_of_collector = next.operation.starts_with("gc_") || next.operation == "prune_memory";
        let Some(plan) = next.arguments.get("plan_id").filter(|_| is_of_collector) else {
            return Ok(String::new());
        };
        let mut request = json!({"plan_id": plan, "limit": SHOWN});
        if let Some(workspace) = next.arguments.get("workspace_id") {
            request["workspace_id"] = workspace.clone();
        }
        // Without the right to read, or without the plan, the question is asked as it is.
        let Ok(plan) = self.ask_service("get_plan", request, context).await? else { return Ok(String::new()) };
        let items = plan["items"].as_array().map(Vec::as_slice).unwrap_or_default();
        let names: Vec<&str> =
            items.iter().filter_map(|item| item["name"].as_str().or_else(|| item["id"].as_str())).collect();
        let total = plan["items_total"].as_i64().unwrap_or_default();
        let noun = if total == 1 { "item" } else { "items" };
        Ok(format!("\nThe plan has {total} {noun}: {}{}", names.join(", "), if total > SHOWN { ", …" } else { "" }))
    }

    /// On this database and, where the call itself does not say, in this workspace.
    fn terminal_command(&self, caller: &Caller, next: &NextCall) -> String {
        let command = &self.options().terminal_command;
        match next.arguments.get("workspace_id") {
            Some(_) => command.clone(),
            None => match caller.workspace.named() {
                Some(workspace) => format!("{command} --workspace {workspace}"),
                None => command.clone(),
            },
        }
    }

    /// A client that has only begun cannot be asked for its folders yet: if they decide, no workspace is named.
    fn info_at_start(&self, context: &RequestContext<RoleServer>) -> Result<ServerConfig, ErrorData> {
        #[cfg(feature = "http")]
        if self.is_over_http {
            let caller = caller_over_http(context)?;
            let current = caller.workspace.named().map_or(Current::MustBeNamed, Current::Named);
            return Ok(self.info_for(current, &caller.rights));
        }
        let is_open = self.options().by_folders.is_some() && offers_folders(context);
        Ok(match self.shared.place.get() {
            Some(place) => self.info_for(Current::Named(&place.workspace), &place.rights),
            None if is_open => self.info_for(Current::OfFirstFolder, &self.options().rights),
            None => self.get_info(),
        })
    }

    fn info_for(&self, current: Current<'_>, rights: &Rights) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().enable_resources().enable_prompts().build();
        let instructions = instructions(current, self.offer(rights));
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("rootset", env!("CARGO_PKG_VERSION")).with_title("Rootset"))
            .with_instructions(instructions)
    }
}

impl ServerHandler for McpServer {
    fn get_info(&self) -> ServerConfig {
        self.info_for(Current::Named(&self.options().workspace), &self.options().rights)
    }

    /// Over HTTP the workspace to name is the caller's.
    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        context.peer.set_peer_info(request.clone());
        let negotiated = self.negotiate_initialize(&request)?;
        Ok(self.info_at_start(&context)?.with_protocol_version(negotiated.protocol_version))
    }

    async fn discover(&self, context: RequestContext<RoleServer>) -> Result<DiscoverResult, ErrorData> {
        let versions = self.supported_protocol_versions().into_owned();
        Ok(DiscoverResult::from_server_info(versions, self.info_at_start(&context)?))
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let caller = self.caller(&context).await?;
        let offered = tools::offered(self.tools(), self.offer(&caller.rights), caller.workspace.named());
        Ok(ListToolsResult::with_all_items(offered))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let tool = request.name.as_ref();
        let caller = self.caller(&context).await?;
        let arguments = Value::Object(request.arguments.clone().unwrap_or_default());
        // Also for the call that a person agrees to, which is made without the words of this one.
        let caller = Caller { detail: Detail::asked_in(&arguments).unwrap_or(caller.detail), ..caller };
        if !self.options().profiles.offer(tool) {
            return Ok(answer::result(Err(self.unknown_tool(tool, &caller.rights))).into());
        }
        if let Some(handle) = &request.request_state {
            return self.go_on(handle, &request, caller, &context).await;
        }
        let answer = self.shared.calls.call(caller.clone(), tool, arguments.clone(), &context).await;
        match answer.map_err(cancelled)? {
            Err(error) => match NextCall::of(&error) {
                Some(next) => self.confirm((tool, arguments), next, error, caller, &context).await,
                None => Ok(self.refused(error, &caller.rights)),
            },
            answer => Ok(answer::result(answer).into()),
        }
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let caller = self.caller(&context).await?;
        let arguments = resources::listing(request.and_then(|request| request.cursor).as_deref())?;
        if !caller.rights.allow_effect(Effect::Read) {
            return Ok(ListResourcesResult::default());
        }
        let listed = self.ask_service("list_memories", arguments, &context).await?;
        let page = listed.map_err(|error| resources::refused(&error, None))?;
        Ok(resources::listed(caller.workspace.named().unwrap_or_default(), &page))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let rights = self.caller(&context).await?.rights;
        Ok(ListResourceTemplatesResult::with_all_items(resources::templates(&rights)))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let (operation, arguments) = resources::reading(&request.uri)?;
        let read = self.ask_service(operation, arguments, &context).await?;
        let value = read.map_err(|error| resources::refused(&error, Some(&request.uri)))?;
        Ok(resources::contents(request.uri, value).into())
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let rights = self.caller(&context).await?.rights;
        Ok(ListPromptsResult::with_all_items(prompts::prompts(self.offer(&rights))))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let rights = self.caller(&context).await?.rights;
        let arguments = request.arguments.unwrap_or_default();
        Ok(prompts::prompt(&request.name, &arguments, self.offer(&rights))?.into())
    }

    /// What the library could not read as any request that it knows.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let method: String = request.method.chars().take(80).collect();
        Err(if METHODS.contains(&request.method.as_str()) {
            ErrorData::invalid_params(format!("`params` do not fit `{method}`"), None)
        } else {
            ErrorData::new(ProtocolErrorCode::METHOD_NOT_FOUND, format!("no method `{method}`"), None)
        })
    }
}

/// Requests that are served. One of these that cannot be read is a wrong request, not an unknown one. `initialize` is not
/// among them: the newest revision has none, and wants to hear just that.
const METHODS: [&str; 8] = [
    "server/discover",
    "tools/list",
    "tools/call",
    "resources/list",
    "resources/templates/list",
    "resources/read",
    "prompts/list",
    "prompts/get",
];

#[cfg(feature = "http")]
fn caller_over_http(context: &RequestContext<RoleServer>) -> Result<Caller, ErrorData> {
    let parts = context.extensions.get::<::http::request::Parts>();
    let caller = parts.and_then(|parts| parts.extensions.get::<Caller>());
    // Nobody may do everything because somebody forgot to say what they may do.
    let caller = caller.ok_or_else(|| ErrorData::internal_error("the request was not authenticated", None))?;
    let caller = Caller { detail: Detail::Brief, ..caller.clone().through_mcp() };
    // Every request of a session goes to the address that it began at.
    Ok(match parts.and_then(|parts| workspace_in(parts.uri.query()?)) {
        Some(named) => Caller { workspace: named.into(), ..caller },
        None => caller,
    })
}

/// The workspace that the address of a server names: `/mcp?workspace=NAME`. No name needs an escape.
#[cfg(feature = "http")]
fn workspace_in(query: &str) -> Option<&str> {
    let named = query.split('&').find_map(|pair| pair.strip_prefix("workspace="))?;
    Some(named).filter(|it| !it.is_empty())
}

/// Nobody hears it: the answer of a cancelled request is dropped.
fn cancelled(_: Cancelled) -> ErrorData {
    ErrorData::new(ProtocolErrorCode::INTERNAL_ERROR, "the request was cancelled; what it began goes on", None)
}

/// What a client calls itself, as a name for the audit: anybody may call themselves anything.
fn safe_name(name: &str) -> String {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    let safe: String = name.chars().map(|c| if allowed(c) { c } else { '-' }).take(ACTOR_CHARS_MAX).collect();
    match safe.trim_matches('-') {
        "" => NAMELESS_CLIENT.to_owned(),
        safe => safe.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_clients_become_safe_actors() {
        assert_eq!(safe_name("claude-code"), "claude-code");
        assert_eq!(safe_name("Visual Studio Code"), "Visual-Studio-Code");
        assert_eq!(safe_name("\u{1b}[31m; DROP TABLE"), "31m--DROP-TABLE");
        assert_eq!(safe_name("   "), "mcp");
        assert_eq!(safe_name(&"x".repeat(500)).len(), ACTOR_CHARS_MAX);
    }
}
