//! `rootset token`.

use clap::{Args, Subcommand};
use rootset_api::{CreateToken, CreatedToken, ListTokens, RevokeToken, TokenList};
use rootset_model::TokenId;

use crate::arguments::described_by;
use crate::commands::{times, words};
use crate::exit::Failure;
use crate::program::Program;
use crate::prompt;
use crate::render::{Table, short};

#[derive(Debug, Subcommand)]
pub enum TokenCommand {
    Create(CreateTokenArguments),
    /// List the tokens, without their secrets
    #[command(defer(described_by::<ListTokens>))]
    List {
        #[arg(id = "include_revoked", long = "revoked")]
        revoked: bool,
    },
    /// Revoke a token for good
    Revoke {
        /// Its name, or the id that `list --json` shows
        #[arg(value_name = "NAME")]
        token: String,
    },
}

/// Create a token for the HTTP API and print its secret once
#[derive(Debug, Args)]
#[command(defer(described_by::<CreateToken>))]
pub struct CreateTokenArguments {
    name: String,
    #[arg(long, value_name = "read,write,destroy,purge,admin", value_delimiter = ',')]
    #[arg(default_value = "read,write,destroy")]
    scopes: Vec<String>,
    /// [comma-separated, default: the current one]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    workspaces: Vec<String>,
    /// [a day, a time, or a duration such as `90d`]
    #[arg(id = "expires_at", long = "expires", value_name = "WHEN")]
    expires: Option<String>,
}

pub fn run(command: TokenCommand, program: &Program) -> Result<(), Failure> {
    match command {
        TokenCommand::Create(arguments) => create(arguments, program),
        TokenCommand::List { revoked } => {
            let answer = program.run(ListTokens { include_revoked: Some(revoked), offset: None, limit: Some(100) })?;
            program.output.answer(&answer, render)
        }
        TokenCommand::Revoke { token } => revoke(&token, program),
    }
}

/// The secret alone is data, so that a script can catch it; what to know about it is talk.
fn create(arguments: CreateTokenArguments, program: &Program) -> Result<(), Failure> {
    let expires_at = arguments.expires.as_deref().map(|text| times::ahead("--expires", text)).transpose()?;
    let workspaces = match arguments.workspaces.as_slice() {
        [] => vec![program.configuration()?.workspace.clone()],
        given => given.to_vec(),
    };
    let scopes = words("--scopes", &arguments.scopes)?.into_iter().collect();
    let workspaces = workspaces.into_iter().collect();
    let answer = program.run(CreateToken { name: arguments.name, scopes, workspaces, expires_at })?;
    program.output.answer(&answer, |answer| format!("{}\n", answer.token))?;
    if !program.output.in_json() {
        program.output.talk(&format!("{}\nsave the secret now: it cannot be shown again", allowed(&answer)));
    }
    Ok(())
}

fn revoke(token: &str, program: &Program) -> Result<(), Failure> {
    prompt::confirm(program, &format!("revoke the token `{token}` for good"))?;
    // No name is shaped like an id.
    let request = match token.parse::<TokenId>() {
        Ok(id) => RevokeToken { token_id: Some(id), name: None },
        Err(_) => RevokeToken { token_id: None, name: Some(token.to_owned()) },
    };
    let answer = program.run(request)?;
    program.output.answer(&answer, |answer| format!("revoked {}\n", answer.name))
}

fn allowed(token: &CreatedToken) -> String {
    let (name, scopes, workspaces) = (&token.name, token.scopes.join(", "), token.workspaces.join(", "));
    let end = token.expires_at.map(|end| format!(" until {}", short(end))).unwrap_or_default();
    format!("token {name} may {scopes} in {workspaces}{end}")
}

fn render(answer: &TokenList) -> String {
    let mut table = Table::new(["NAME", "SCOPES", "WORKSPACES", "CREATED", "BY", "EXPIRES", "STATE"]);
    for token in &answer.tokens {
        let state = match (token.valid, token.revoked_at) {
            (true, _) => "valid",
            (false, None) => "expired",
            (false, Some(_)) => "revoked",
        };
        table.row([
            token.name.clone(),
            token.scopes.join(", "),
            token.workspaces.join(", "),
            short(token.created_at),
            token.created_by.clone(),
            token.expires_at.map(short).unwrap_or_default(),
            state.to_owned(),
        ]);
    }
    table.finish()
}
