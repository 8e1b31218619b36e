//! `rootset token`.

use clap::{Args, Subcommand};
use rootset_api::{CreateToken, CreatedToken, Expiry, ListTokens, RevokeToken, RotateToken, TokenAnswer, TokenList};
use rootset_model::time::parse_duration_ms;
use rootset_model::{Ahead, DurationMs, TokenId};
use rootset_service::ServiceError;

use crate::arguments::described_by;
use crate::commands::{times, word, words};
use crate::exit::Failure;
use crate::program::Program;
use crate::prompt;
use crate::render::{Column, Table, short};

#[derive(Debug, Subcommand)]
pub enum TokenCommand {
    Create(CreateTokenArguments),
    /// List the tokens, without their secrets
    #[command(defer(described_by::<ListTokens>))]
    List {
        #[arg(id = "include_revoked", long = "revoked")]
        revoked: bool,
    },
    Rotate(RotateTokenArguments),
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
    /// [a day, a time, a duration such as `90d`, or `never`]
    #[arg(id = "expires_at", long = "expires", value_name = "WHEN")]
    expires: Option<String>,
    #[arg(long, value_name = "NAME")]
    owner: Option<String>,
    /// [comma-separated]
    #[arg(long, value_name = "FOLDERS", value_delimiter = ',')]
    roots: Option<Vec<String>>,
    #[arg(long, value_name = "person|agent|untrusted")]
    trust: Option<String>,
}

/// Give a token a new secret and print it once
#[derive(Debug, Args)]
#[command(defer(described_by::<RotateToken>))]
pub struct RotateTokenArguments {
    /// Its name, or the id that `list --json` shows
    #[arg(id = "token", value_name = "NAME")]
    token: String,
    #[arg(long, value_name = "DURATION")]
    overlap: Option<String>,
    /// [a day, a time, a duration such as `90d`, or `never`]
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
        TokenCommand::Rotate(arguments) => rotate(arguments, program),
        TokenCommand::Revoke { token } => revoke(&token, program),
    }
}

/// The secret alone is data, so that a script can catch it; what to know about it is talk.
fn create(arguments: CreateTokenArguments, program: &Program) -> Result<(), Failure> {
    let expires_at = expiry(arguments.expires.as_deref())?;
    let workspaces = match arguments.workspaces.as_slice() {
        [] => vec![program.workspace_id()?],
        given => given.to_vec(),
    };
    let scopes = words("--scopes", &arguments.scopes)?.into_iter().collect();
    let trust = arguments.trust.as_deref().map(|text| word("--trust", text)).transpose()?;
    let answer = program.run(CreateToken {
        name: arguments.name,
        scopes,
        workspaces: workspaces.into_iter().collect(),
        expires_at,
        owner: arguments.owner,
        roots: arguments.roots,
        trust,
    })?;
    show_secret(&answer, program)
}

fn rotate(arguments: RotateTokenArguments, program: &Program) -> Result<(), Failure> {
    let duration = |text: &String| parse_duration_ms(text).map(DurationMs);
    let overlap = arguments.overlap.as_ref().map(duration).transpose();
    let overlap = overlap.map_err(|error| ServiceError::invalid(format!("`--overlap`: {error}")))?;
    let (token_id, name) = reference(&arguments.token);
    let expires_at = expiry(arguments.expires.as_deref())?;
    let answer = program.run(RotateToken { name, token_id, overlap, expires_at })?;
    show_secret(&answer, program)
}

fn expiry(text: Option<&str>) -> Result<Option<Expiry<Ahead>>, ServiceError> {
    match text {
        None => Ok(None),
        Some("never") => Ok(Some(Expiry::Never)),
        Some(text) => Ok(Some(Expiry::At(times::ahead("--expires", text)?))),
    }
}

fn show_secret(answer: &CreatedToken, program: &Program) -> Result<(), Failure> {
    program.output.answer(answer, |answer| format!("{}\n", answer.token))?;
    if program.output.in_json() {
        return Ok(());
    }
    program.output.talk(&allowed(answer));
    if let Some(end) = answer.old_secret_ends_at {
        program.output.talk(&format!("the old secret is accepted until {}", short(end)));
    }
    program.output.talk("save the secret now: it cannot be shown again");
    Ok(())
}

/// No name is shaped like an id.
fn reference(token: &str) -> (Option<TokenId>, Option<String>) {
    match token.parse::<TokenId>() {
        Ok(id) => (Some(id), None),
        Err(_) => (None, Some(token.to_owned())),
    }
}

fn revoke(token: &str, program: &Program) -> Result<(), Failure> {
    prompt::confirm(program, &format!("revoke the token `{token}` for good"))?;
    let (token_id, name) = reference(token);
    let answer = program.run(RevokeToken { token_id, name })?;
    program.output.answer(&answer, |answer| format!("revoked {}\n", answer.name))
}

fn allowed(token: &CreatedToken) -> String {
    let (name, scopes, workspaces) = (&token.name, token.scopes.join(", "), token.workspaces.join(", "));
    let end = match token.expires_at {
        Expiry::At(end) => format!("until {}", short(end)),
        Expiry::Never => "forever".to_owned(),
    };
    format!("token {name} may {scopes} in {workspaces} {end}")
}

fn render(answer: &TokenList) -> String {
    if answer.tokens.is_empty() {
        return "no tokens; `rootset token create NAME` makes one\n".to_owned();
    }
    let mut table = Table::new([
        Column::name("NAME"),
        Column::whole("SCOPES"),
        Column::whole("WORKSPACES"),
        Column::name("OWNER").spare(),
        Column::time("LAST USED").spare(),
        Column::until("EXPIRES"),
        Column::fixed("STATE"),
    ]);
    for token in &answer.tokens {
        let end = match token.expires_at {
            Expiry::At(end) => end.to_string(),
            Expiry::Never => "never".to_owned(),
        };
        table.row([
            token.name.clone(),
            token.scopes.join(", "),
            token.workspaces.join(", "),
            token.owner.clone().unwrap_or_default(),
            token.last_used_at.map_or_else(|| "never".to_owned(), |at| at.to_string()),
            end,
            state(token).to_owned(),
        ]);
    }
    table.finish()
}

fn state(token: &TokenAnswer) -> &'static str {
    match (token.valid, token.revoked_at) {
        (true, _) if token.expires_soon => "ends soon",
        (true, _) => "valid",
        (false, None) => "expired",
        (false, Some(_)) => "revoked",
    }
}
