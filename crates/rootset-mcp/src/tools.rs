//! Operations as tools: schemas, title, annotations, in the order of the catalogue.

use std::collections::BTreeSet;
use std::sync::Arc;

use rmcp::model::{JsonObject, MetaObject, Tool, ToolAnnotations};
use rootset_api::{Effect, Harm, OperationInfo, Profile, Profiles};
use serde_json::Value;

use crate::offer::Offer;

/// A field that says nothing to a client that sees one workspace.
const WORKSPACE: &str = "workspace_id";
/// Each tool names them: more would cost more than they tell.
const WORKSPACES_NAMED_MAX: usize = 4;

pub fn tools(profiles: &Profiles) -> Vec<Tool> {
    let is_full = profiles.contain(Profile::Full);
    profiles.operations().map(|operation| tool(operation, is_full)).collect()
}

/// Those that can succeed.
pub fn offered(tools: &[Tool], offer: Offer<'_>, current: Option<&str>) -> Vec<Tool> {
    let workspaces = offer.rights.workspaces.as_ref();
    let sees_one = workspaces.is_some_and(|workspaces| workspaces.len() == 1);
    let named = workspaces.filter(|workspaces| (2..=WORKSPACES_NAMED_MAX).contains(&workspaces.len()));
    let named = named.map(|workspaces| which(workspaces, current));
    let offered = tools.iter().filter(|tool| offer.has(&tool.name)).cloned();
    let fitting = |tool| match &named {
        _ if sees_one => without_workspace(tool),
        Some(named) => with_workspaces(tool, named),
        None => tool,
    };
    offered.map(fitting).collect()
}

/// `falcon` (default), `api`.
fn which(workspaces: &BTreeSet<String>, current: Option<&str>) -> String {
    let default = current.map(|id| format!("`{id}` (default)"));
    let others = workspaces.iter().filter(|id| Some(id.as_str()) != current).map(|id| format!("`{id}`"));
    default.into_iter().chain(others).collect::<Vec<_>>().join(", ")
}

/// A client that works in a few folders learns here what their workspaces are called.
fn with_workspaces(mut tool: Tool, named: &str) -> Tool {
    if tool.input_schema.get("properties").is_some_and(|fields| fields.get(WORKSPACE).is_some()) {
        let schema = Arc::make_mut(&mut tool.input_schema);
        schema["properties"][WORKSPACE]["description"] = format!("{named}.").into();
    }
    tool
}

/// Where the field may be left out and there is only one to name, it is left out.
fn without_workspace(mut tool: Tool) -> Tool {
    let is_required = |schema: &JsonObject| {
        schema.get("required").and_then(Value::as_array).is_some_and(|names| names.iter().any(|it| it == WORKSPACE))
    };
    if !is_required(&tool.input_schema) {
        let schema = Arc::make_mut(&mut tool.input_schema);
        if let Some(fields) = schema.get_mut("properties").and_then(Value::as_object_mut) {
            fields.shift_remove(WORKSPACE);
        }
    }
    tool
}

/// Clients that show a model only the names of tools until it looks for one show these whole: what a model does not know that
/// it can recall, it never looks for.
const ALWAYS_LOADED: [&str; 3] = ["search_memory", "add_memory", "context_recall"];
const ALWAYS_LOAD: &str = "anthropic/alwaysLoad";

/// A model pays for every field that it is shown: only `full` shows those that few ever need.
fn tool(operation: &OperationInfo, is_full: bool) -> Tool {
    let schema = if is_full { operation.input_schema() } else { operation.essential_schema() };
    let tool = Tool::new(operation.name, operation.description(), Arc::new(fields_of(schema)))
        .with_title(title(operation.name))
        .with_raw_output_schema(Arc::new(fields_of(operation.output_schema())))
        .with_annotations(annotations(operation));
    if !ALWAYS_LOADED.contains(&operation.name) {
        return tool;
    }
    let mut meta = JsonObject::new();
    meta.insert(ALWAYS_LOAD.to_owned(), true.into());
    tool.with_meta(MetaObject(meta))
}

/// What can be undone is destructive all the same, and so is a tool that is so with one of its arguments: these are hints
/// for clients that decide whether to ask a person.
fn annotations(operation: &OperationInfo) -> ToolAnnotations {
    let removes = operation.irreversible.iter().any(|it| it.harm != Harm::Rights);
    let destroys = matches!(operation.effect, Effect::Destroy | Effect::Purge) || operation.destroys_with.is_some();
    let destructive = destroys || removes;
    ToolAnnotations::new()
        .read_only(operation.effect == Effect::Read)
        .destructive(destructive)
        .idempotent(operation.is_idempotent)
        .open_world(operation.is_open_world)
}

/// `gc_undo` → `GC undo`.
fn title(name: &str) -> String {
    let words = name.replace('_', " ");
    match words.strip_prefix("gc ") {
        Some(rest) => format!("GC {rest}"),
        None => words[..1].to_uppercase() + &words[1..],
    }
}

/// The draft, the Rust name and the description, which the tool has anyway, say nothing about the fields.
fn fields_of(schema: &Value) -> JsonObject {
    let Value::Object(mut fields) = schema.clone() else { return JsonObject::new() };
    for frame in ["$schema", "title", "description"] {
        fields.remove(frame);
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::*;
    use rootset_service::Rights;

    #[test]
    fn a_client_that_sees_one_workspace_is_not_asked_for_it() {
        let profiles = Profiles::default();
        let fields = |workspaces: Option<&[&str]>| {
            let workspaces = workspaces.map(|names| names.iter().map(|name| (*name).to_owned()).collect());
            let rights = Rights { workspaces, ..Rights::default() };
            let tools =
                offered(&tools(&profiles), Offer { profiles: &profiles, rights: &rights, terminal: None }, Some("a"));
            let tool = tools.into_iter().find(|tool| tool.name == "add_memory").expect("a tool of the core");
            tool.input_schema["properties"].as_object().expect("fields").contains_key(WORKSPACE)
        };
        assert!(fields(None) && fields(Some(&["a", "b"])));
        assert!(!fields(Some(&["a"])));
    }

    #[test]
    fn a_client_that_sees_a_few_workspaces_is_told_their_names() {
        let profiles = Profiles::default();
        let workspaces = Some(["api", "falcon"].map(str::to_owned).into());
        let rights = Rights { workspaces, ..Rights::default() };
        for tool in
            offered(&tools(&profiles), Offer { profiles: &profiles, rights: &rights, terminal: None }, Some("falcon"))
        {
            assert_eq!(
                tool.input_schema["properties"][WORKSPACE]["description"], "`falcon` (default), `api`.",
                "{}",
                tool.name
            );
        }
    }

    #[test]
    fn only_full_shows_rare_fields() {
        let has = |profile: Profile| {
            let tools = tools(&Profiles::new([profile]));
            let tool = tools.into_iter().find(|tool| tool.name == "search_memory").expect("a tool");
            let fields = tool.input_schema["properties"].as_object().expect("fields").clone();
            (fields.contains_key("query"), fields.contains_key("explain"))
        };
        assert_eq!((has(Profile::Core), has(Profile::Full)), ((true, false), (true, true)));
    }

    #[test]
    fn every_tool_has_a_title_schemas_of_objects_and_all_four_annotations() {
        for tool in tools(&Profiles::new([Profile::Full])) {
            let annotations = tool.annotations.as_ref().expect("annotations");
            assert!(annotations.read_only_hint.is_some() && annotations.destructive_hint.is_some(), "{}", tool.name);
            assert!(annotations.idempotent_hint.is_some() && annotations.open_world_hint.is_some(), "{}", tool.name);
            assert!(tool.title.as_ref().is_some_and(|title| !title.is_empty()), "{}", tool.name);
            assert_eq!(tool.input_schema["type"], "object", "{}", tool.name);
            assert_eq!(tool.output_schema.as_ref().expect("an output schema")["type"], "object", "{}", tool.name);
        }
    }

    #[test]
    fn hints_follow_the_effect() {
        let hints = |name: &str| {
            let tools = tools(&Profiles::new([Profile::Full]));
            let tool = tools.into_iter().find(|tool| tool.name == name).expect("a tool");
            let hints = tool.annotations.expect("annotations");
            (hints.read_only_hint.expect("a hint"), hints.destructive_hint.expect("a hint"))
        };
        assert_eq!(hints("search_memory"), (true, false));
        assert_eq!(hints("add_memory"), (false, false));
        assert_eq!(hints("delete_memory"), (false, true));
        assert_eq!(hints("gc_purge"), (false, true));
        assert_eq!(hints("backup_restore"), (false, true));
        assert_eq!(hints("delete_workspace"), (false, true));
        assert_eq!(hints("create_workspace"), (false, false));
        // One of their arguments is enough.
        assert_eq!(hints("forget"), (false, true));
        assert_eq!(hints("update_memory"), (false, true));
        assert_eq!(hints("set_retention"), (false, true));
    }

    #[test]
    fn the_tools_that_a_model_must_know_of_are_always_loaded() {
        let tools = tools(&Profiles::default());
        let loaded = |tool: &&Tool| tool.meta.as_ref().is_some_and(|meta| meta.0[ALWAYS_LOAD] == true);
        let mut loaded: Vec<&str> = tools.iter().filter(loaded).map(|tool| tool.name.as_ref()).collect();
        loaded.sort_unstable();
        assert_eq!(loaded, ["add_memory", "context_recall", "search_memory"]);
    }

    #[test]
    fn titles_are_for_people() {
        assert_eq!(title("add_memory"), "Add memory");
        assert_eq!(title("gc_undo"), "GC undo");
        assert_eq!(title("forget"), "Forget");
    }
}
