//! `rootset token`.

use rootset_model::TokenId;
use serde_json::{Value, json};

use crate::arguments::{CreateTokenArguments, TokenCommand};
use crate::commands::times;
use crate::exit::Failure;
use crate::prompt;
use crate::render::{Table, flag, list, short, text};
use crate::session::Session;

pub fn run(command: TokenCommand, session: &Session) -> Result<(), Failure> {
    match command {
        TokenCommand::Create(arguments) => create(arguments, session),
        TokenCommand::List { revoked } => {
            let answer = session.call("list_tokens", json!({"include_revoked": revoked, "limit": 100}))?;
            session.output.answer(&answer, render)
        }
        TokenCommand::Revoke { token } => revoke(&token, session),
    }
}

/// The secret alone is data, so that a script can catch it; what to know about it is talk.
fn create(arguments: CreateTokenArguments, session: &Session) -> Result<(), Failure> {
    let expires_at = arguments.expires.as_deref().map(|text| times::ahead("--expires", text)).transpose()?;
    let workspaces = match arguments.workspaces.as_slice() {
        [] => vec![session.configuration()?.workspace.clone()],
        given => given.to_vec(),
    };
    let request = json!({
        "name": arguments.name,
        "scopes": arguments.scopes,
        "workspaces": workspaces,
        "expires_at": expires_at,
    });
    let answer = session.call("create_token", request)?;
    session.output.answer(&answer, |answer| format!("{}\n", text(answer, "token")))?;
    if !session.output.in_json() {
        session.output.talk(&format!("{}\nkeep the secret now: it cannot be shown again", allowed(&answer)));
    }
    Ok(())
}

fn revoke(token: &str, session: &Session) -> Result<(), Failure> {
    prompt::confirm(session, &format!("revoke the token `{token}` for good"))?;
    // No name is shaped like an id.
    let request = match token.parse::<TokenId>() {
        Ok(id) => json!({ "token_id": id }),
        Err(_) => json!({ "name": token }),
    };
    let answer = session.call("revoke_token", request)?;
    session.output.answer(&answer, |answer| format!("revoked {}\n", text(answer, "name")))
}

fn allowed(token: &Value) -> String {
    let (name, scopes, workspaces) = (text(token, "name"), words(token, "scopes"), words(token, "workspaces"));
    let end = match text(token, "expires_at") {
        "" => String::new(),
        end => format!(" until {}", short(end)),
    };
    format!("token {name} may {scopes} in {workspaces}{end}")
}

fn words(token: &Value, field: &str) -> String {
    list(token, field).iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", ")
}

fn render(answer: &Value) -> String {
    let mut table = Table::new(["NAME", "SCOPES", "WORKSPACES", "CREATED", "BY", "EXPIRES", "STATE"]);
    for token in list(answer, "tokens") {
        let state = match (flag(token, "valid"), text(token, "revoked_at")) {
            (true, _) => "valid",
            (false, "") => "expired",
            (false, _) => "revoked",
        };
        table.row([
            text(token, "name").to_owned(),
            words(token, "scopes"),
            words(token, "workspaces"),
            short(text(token, "created_at")),
            text(token, "created_by").to_owned(),
            short(text(token, "expires_at")),
            state.to_owned(),
        ]);
    }
    table.finish()
}
