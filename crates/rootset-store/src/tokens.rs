//! Tokens of the HTTP API as they are stored: a hash of the secret, words for what it allows, the numbers of its workspaces,
//! and when it ends.
//!
//! What the words mean is not known here, and the secret never comes here: callers hash it. A token is bound to the numbers
//! of workspaces, not to their names: a number is given once, so a workspace that is made later under an old name is none of
//! the token's. Tokens belong to the database they were made for: backups leave them out, so that a restore neither revives a
//! revoked one nor loses a living one.

use std::collections::HashMap;

use rootset_model::{Timestamp, TokenId, WorkspaceKey};

use crate::driver::{Row, Tenant, Transaction};
use crate::error::StoreError;
use crate::leases::DATABASE;
use crate::statements::tokens as sql;
use crate::statements::workspaces as workspace_sql;
use crate::{Credential, EventNote, Stamp, Store, audit};

/// What stands for every workspace.
const ALL_WORKSPACES: &str = "*";

#[derive(Clone, Debug)]
pub struct NewToken {
    pub id: TokenId,
    pub name: String,
    pub secret: Credential,
    pub scopes: Vec<String>,
    /// `None`: all of them, also later ones.
    pub workspaces: Option<Vec<WorkspaceKey>>,
    pub expires_at: Option<Timestamp>,
    /// The person that it acts for.
    pub owner: Option<String>,
    /// Folders that it may index; `None`: it says nothing about that.
    pub roots: Option<Vec<String>>,
    pub trust: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenRow {
    pub id: TokenId,
    pub name: String,
    pub scopes: Vec<String>,
    /// Those that there still are, in the order of their names; `None`: all.
    pub workspaces: Option<Vec<BoundWorkspace>>,
    pub created_at: Timestamp,
    pub created_by: String,
    pub expires_at: Option<Timestamp>,
    pub revoked_at: Option<Timestamp>,
    pub owner: Option<String>,
    pub roots: Option<Vec<String>>,
    pub trust: String,
    /// As of an hour ago or so.
    pub last_used_at: Option<Timestamp>,
    /// Of the secret that was looked up, where it ends before its token does: another has replaced it.
    pub secret_ends_at: Option<Timestamp>,
}

/// A workspace of a token: its number, and the name that it has now.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct BoundWorkspace {
    pub id: String,
    pub key: WorkspaceKey,
    /// Whether it stands beside the others, as the personal memory of somebody.
    pub is_personal: bool,
}

/// How somebody names a token.
#[derive(Clone, Copy, Debug)]
pub enum TokenReference<'a> {
    Id(TokenId),
    /// Of a token that is not revoked.
    Name(&'a str),
}

/// A new secret for a token.
#[derive(Clone, Copy, Debug)]
pub struct Rotation {
    pub secret: Credential,
    /// The secret before it is accepted until then.
    pub previous_until: Timestamp,
    pub expires_at: Option<Timestamp>,
}

impl Store {
    pub fn create_token(&self, new: &NewToken, stamp: Stamp<'_>) -> Result<(), StoreError> {
        let roots = new.roots.as_ref().map(|roots| serde_json::json!(roots).to_string());
        self.write(Tenant::Database, |tx| {
            stamp.show(tx)?;
            tx.execute(&sql::FREE_NAME, &[(&new.name).into(), stamp.now.into()])?;
            if let Some(by) = tx.row(&sql::HOLDER_OF_NAME, &[(&new.name).into()], |row| row.get(0))? {
                return Err(StoreError::TokenNameTaken { name: new.name.clone(), by });
            }
            tx.execute(
                &sql::INSERT,
                &[
                    (&new.id).into(),
                    (&new.name).into(),
                    (&new.secret.0).into(),
                    new.scopes.join(" ").as_str().into(),
                    bound_text(new.workspaces.as_deref()).as_str().into(),
                    stamp.now.into(),
                    stamp.actor.into(),
                    new.expires_at.into(),
                    new.owner.as_ref().into(),
                    roots.as_ref().into(),
                    (&new.trust).into(),
                ],
            )?;
            audit::append(tx, DATABASE, stamp, &entry("create_token", new.id, &new.name))
        })
    }

    /// The token with this secret, unless it was revoked. Whether it has run out is for the caller to ask.
    pub fn token_by_secret(&self, secret: Credential) -> Result<Option<TokenRow>, StoreError> {
        self.read(Tenant::Database, |tx| {
            let found = tx.row(&sql::BY_SECRET, &[(&secret.0).into()], |row| {
                Ok((Unnamed::read(row)?, row.get::<Option<Timestamp>>(12)?))
            })?;
            let Some((token, secret_ends_at)) = found else { return Ok(None) };
            Ok(named(tx, vec![token])?.pop().map(|token| TokenRow { secret_ends_at, ..token }))
        })
    }

    /// Whether there is one that would be let in now.
    pub fn has_living_token(&self, now: Timestamp) -> Result<bool, StoreError> {
        self.read(Tenant::Database, |tx| tx.scalar(&sql::ANY_LIVING, &[now.into()]))
    }

    pub fn token(&self, token: TokenReference<'_>, stamp: Stamp<'_>) -> Result<TokenRow, StoreError> {
        self.read(Tenant::Database, |tx| {
            stamp.show(tx)?;
            find(tx, token)
        })
    }

    /// A page of tokens, newest first, and how many there are.
    pub fn list_tokens(
        &self,
        with_revoked: bool,
        offset: i64,
        limit: i64,
        stamp: Stamp<'_>,
    ) -> Result<(Vec<TokenRow>, i64), StoreError> {
        self.read(Tenant::Database, |tx| {
            stamp.show(tx)?;
            let total = tx.scalar(&sql::COUNT, &[with_revoked.into()])?;
            let page = [with_revoked.into(), limit.into(), offset.into()];
            let rows = tx.rows(&sql::LIST, &page, Unnamed::read)?;
            Ok((named(tx, rows)?, total))
        })
    }

    /// Revokes a token for good. One that was revoked before stays as it is.
    pub fn revoke_token(&self, token: TokenReference<'_>, stamp: Stamp<'_>) -> Result<TokenRow, StoreError> {
        self.write(Tenant::Database, |tx| {
            stamp.show(tx)?;
            let found = find(tx, token)?;
            if found.revoked_at.is_some() {
                return Ok(found);
            }
            tx.execute(&sql::REVOKE, &[(&found.id).into(), stamp.now.into()])?;
            audit::append(tx, DATABASE, stamp, &entry("revoke_token", found.id, &found.name))?;
            Ok(TokenRow { revoked_at: Some(stamp.now), ..found })
        })
    }

    /// Gives a living token another secret.
    pub fn rotate_token(&self, id: TokenId, rotation: Rotation, stamp: Stamp<'_>) -> Result<TokenRow, StoreError> {
        self.write(Tenant::Database, |tx| {
            stamp.show(tx)?;
            let found = find(tx, TokenReference::Id(id))?;
            let changed = tx.execute(
                &sql::ROTATE,
                &[
                    (&id).into(),
                    (&rotation.secret.0).into(),
                    rotation.previous_until.into(),
                    rotation.expires_at.into(),
                ],
            )?;
            if changed == 0 {
                return Err(StoreError::TokenNotFound(found.name));
            }
            audit::append(tx, DATABASE, stamp, &entry("rotate_token", found.id, &found.name))?;
            Ok(TokenRow { expires_at: rotation.expires_at, ..found })
        })
    }

    /// Notes when tokens were last used. Not for the path of a request: others wait for who writes.
    pub fn note_token_uses(&self, uses: &[(TokenId, Timestamp)]) -> Result<(), StoreError> {
        if uses.is_empty() {
            return Ok(());
        }
        self.touch(Tenant::Database, |tx| {
            for (token, at) in uses {
                tx.execute(&sql::USED, &[token.into(), (*at).into()])?;
            }
            Ok(())
        })
    }

    /// When the next of the living tokens ends; `None` where none does.
    pub fn soonest_token_end(&self, now: Timestamp) -> Result<Option<Timestamp>, StoreError> {
        self.read(Tenant::Database, |tx| tx.scalar(&sql::SOONEST_END, &[now.into()]))
    }

    /// Living tokens that end by then, the next one first.
    pub fn tokens_ending(&self, now: Timestamp, by: Timestamp) -> Result<Vec<TokenRow>, StoreError> {
        self.read(Tenant::Database, |tx| ending(tx, now, by, Told::Either))
    }

    /// Tells of every living token that ends by then, once; answers how many those were.
    pub fn warn_of_ending_tokens(&self, by: Timestamp, stamp: Stamp<'_>) -> Result<usize, StoreError> {
        let untold = |tx: &mut dyn Transaction| ending(tx, stamp.now, by, Told::NotYet);
        // Nearly always there is none, and readers keep nobody waiting.
        if self.read(Tenant::Database, untold)?.is_empty() {
            return Ok(0);
        }
        self.write(Tenant::Database, |tx| {
            let tokens = untold(tx)?;
            for token in &tokens {
                let details = serde_json::json!({
                    "token_id": token.id,
                    "name": token.name,
                    "owner": token.owner,
                    "expires_at": token.expires_at,
                });
                let event = EventNote { kind: "token_expiring", details: Some(details), ..EventNote::default() };
                self.note_event_in(tx, None, &event, stamp)?;
                tx.execute(&sql::WARNED, &[(&token.id).into(), stamp.now.into()])?;
            }
            Ok(tokens.len())
        })
    }
}

/// A workspace that is being purged leaves every token, after its row is gone. Noted in its own chain, which outlives it.
pub(crate) fn unbind(tx: &mut dyn Transaction, workspace: WorkspaceKey, stamp: Stamp<'_>) -> Result<(), StoreError> {
    let tokens = tx.execute(&sql::UNBIND, &[workspace.into(), stamp.now.into()])?;
    if tokens == 0 {
        return Ok(());
    }
    let counts = Some(serde_json::json!({ "tokens": tokens }).to_string());
    audit::append(tx, workspace, stamp, &audit::Entry { counts, ..audit::Entry::of("unbind_tokens") })
}

fn entry<'a>(operation: &'a str, token: TokenId, name: &str) -> audit::Entry<'a> {
    let details = Some(serde_json::json!({"token_id": token, "name": name}).to_string());
    audit::Entry { details, ..audit::Entry::of(operation) }
}

/// Whether tokens are wanted whose end was told already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Told {
    NotYet,
    Either,
}

fn ending(tx: &mut dyn Transaction, now: Timestamp, by: Timestamp, told: Told) -> Result<Vec<TokenRow>, StoreError> {
    let rows = tx.rows(&sql::ENDING, &[now.into(), by.into(), (told == Told::Either).into()], Unnamed::read)?;
    named(tx, rows)
}

fn row(tx: &mut dyn Transaction, token: TokenReference<'_>) -> Result<Option<TokenRow>, StoreError> {
    let found = match token {
        TokenReference::Id(id) => tx.row(&sql::BY_ID, &[(&id).into()], Unnamed::read)?,
        TokenReference::Name(name) => tx.row(&sql::BY_NAME, &[name.into()], Unnamed::read)?,
    };
    Ok(named(tx, found.into_iter().collect())?.pop())
}

fn find(tx: &mut dyn Transaction, token: TokenReference<'_>) -> Result<TokenRow, StoreError> {
    row(tx, token)?.ok_or_else(|| {
        StoreError::TokenNotFound(match token {
            TokenReference::Id(id) => id.to_string(),
            TokenReference::Name(name) => name.to_owned(),
        })
    })
}

/// Numbers with a blank before and after each, so that one can be taken out.
fn bound_text(workspaces: Option<&[WorkspaceKey]>) -> String {
    let Some(keys) = workspaces else { return ALL_WORKSPACES.to_owned() };
    keys.iter().fold(" ".to_owned(), |text, key| format!("{text}{} ", key.0))
}

/// A row that knows its workspaces by their numbers alone.
struct Unnamed {
    token: TokenRow,
    numbers: Option<Vec<i64>>,
}

impl Unnamed {
    fn read(row: &dyn Row) -> Result<Self, StoreError> {
        let unreadable = || StoreError::UnreadableValue("a token");
        let workspaces: String = row.get(3)?;
        let numbers = match workspaces.as_str() {
            ALL_WORKSPACES => None,
            text => {
                let numbers: Result<Vec<i64>, _> = text.split_whitespace().map(str::parse).collect();
                Some(numbers.map_err(|_| unreadable())?)
            }
        };
        let roots: Option<String> = row.get(9)?;
        let roots = roots.map(|text| serde_json::from_str(&text)).transpose().map_err(|_| unreadable())?;
        let token = TokenRow {
            id: row.get(0)?,
            name: row.get(1)?,
            scopes: row.get::<String>(2)?.split(' ').map(str::to_owned).collect(),
            workspaces: None,
            created_at: row.get(4)?,
            created_by: row.get(5)?,
            expires_at: row.get(6)?,
            revoked_at: row.get(7)?,
            owner: row.get(8)?,
            roots,
            trust: row.get(10)?,
            last_used_at: row.get(11)?,
            secret_ends_at: None,
        };
        Ok(Self { token, numbers })
    }
}

/// Gives the workspaces of tokens the names that they have now; what is gone is left out.
fn named(tx: &mut dyn Transaction, rows: Vec<Unnamed>) -> Result<Vec<TokenRow>, StoreError> {
    let mut numbers: Vec<i64> = rows.iter().filter_map(|row| row.numbers.as_deref()).flatten().copied().collect();
    numbers.sort_unstable();
    numbers.dedup();
    let mut names: HashMap<i64, (String, bool)> = HashMap::new();
    if !numbers.is_empty() {
        tx.query(&workspace_sql::NAMES_OF, &[numbers.as_slice().into()], &mut |row| {
            names.insert(row.get(0)?, (row.get(1)?, row.get(2)?));
            Ok(())
        })?;
    }
    let bound = |numbers: Vec<i64>| {
        let of = |number: i64| {
            let (id, is_personal) = names.get(&number)?.clone();
            Some(BoundWorkspace { id, key: WorkspaceKey(number), is_personal })
        };
        let mut bound: Vec<BoundWorkspace> = numbers.into_iter().filter_map(of).collect();
        bound.sort_unstable();
        bound
    };
    Ok(rows.into_iter().map(|row| TokenRow { workspaces: row.numbers.map(bound), ..row.token }).collect())
}
