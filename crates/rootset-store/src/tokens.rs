//! Tokens of the HTTP API as they are stored: a hash of the secret, words for what it allows, and when it ends.
//!
//! What the words mean is not known here, and the secret never comes here: callers hash it. Tokens belong to the database
//! they were made for: backups leave them out, so that a restore neither revives a revoked one nor loses a living one.

use rootset_model::{Timestamp, TokenId};

use crate::driver::{Row, Tenant, Transaction};
use crate::error::StoreError;
use crate::leases::DATABASE;
use crate::statements::tokens as sql;
use crate::{Stamp, Store, audit};

/// What stands for every workspace. No workspace can have this name.
const ALL_WORKSPACES: &str = "*";

#[derive(Clone, Debug)]
pub struct NewToken {
    pub id: TokenId,
    pub name: String,
    pub secret_hash: [u8; 32],
    pub scopes: Vec<String>,
    /// `None`: all of them, also later ones.
    pub workspaces: Option<Vec<String>>,
    pub expires_at: Option<Timestamp>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenRow {
    pub id: TokenId,
    pub name: String,
    pub scopes: Vec<String>,
    pub workspaces: Option<Vec<String>>,
    pub created_at: Timestamp,
    pub created_by: String,
    pub expires_at: Option<Timestamp>,
    pub revoked_at: Option<Timestamp>,
}

/// How somebody names a token that is to be revoked.
#[derive(Clone, Copy, Debug)]
pub enum TokenReference<'a> {
    Id(TokenId),
    /// Of a token that is not revoked.
    Name(&'a str),
}

impl Store {
    pub fn create_token(&self, new: &NewToken, stamp: Stamp<'_>) -> Result<(), StoreError> {
        let workspaces = new.workspaces.as_ref().map_or_else(|| ALL_WORKSPACES.to_owned(), |ids| ids.join(" "));
        self.write(Tenant::Database, |tx| {
            tx.execute(&sql::FREE_NAME, &[(&new.name).into(), stamp.now.into()])?;
            if let Some(taken) = tx.row(&sql::BY_NAME, &[(&new.name).into()], TokenRow::read)? {
                return Err(StoreError::TokenNameTaken { name: taken.name, by: taken.id });
            }
            tx.execute(
                &sql::INSERT,
                &[
                    (&new.id).into(),
                    (&new.name).into(),
                    (&new.secret_hash).into(),
                    new.scopes.join(" ").as_str().into(),
                    workspaces.as_str().into(),
                    stamp.now.into(),
                    stamp.actor.into(),
                    new.expires_at.into(),
                ],
            )?;
            audit::append(tx, DATABASE, stamp, &audit::Entry::of("create_token"))
        })
    }

    /// The token with this secret, unless it was revoked. Whether it has run out is for the caller to ask.
    pub fn token_by_secret(&self, secret_hash: &[u8; 32]) -> Result<Option<TokenRow>, StoreError> {
        self.read(Tenant::Database, |tx| tx.row(&sql::BY_SECRET, &[secret_hash.into()], TokenRow::read))
    }

    /// Whether there is one that would be let in now.
    pub fn has_living_token(&self, now: Timestamp) -> Result<bool, StoreError> {
        self.read(Tenant::Database, |tx| tx.scalar(&sql::ANY_LIVING, &[now.into()]))
    }

    /// A page of tokens, newest first, and how many there are.
    pub fn list_tokens(&self, with_revoked: bool, offset: i64, limit: i64) -> Result<(Vec<TokenRow>, i64), StoreError> {
        self.read(Tenant::Database, |tx| {
            let total = tx.scalar(&sql::COUNT, &[with_revoked.into()])?;
            let page = [with_revoked.into(), limit.into(), offset.into()];
            Ok((tx.rows(&sql::LIST, &page, TokenRow::read)?, total))
        })
    }

    /// Revokes a token for good. One that was revoked before stays as it is.
    pub fn revoke_token(&self, token: TokenReference<'_>, stamp: Stamp<'_>) -> Result<TokenRow, StoreError> {
        self.write(Tenant::Database, |tx| {
            let found = find(tx, token)?;
            if found.revoked_at.is_some() {
                return Ok(found);
            }
            tx.execute(&sql::REVOKE, &[(&found.id).into(), stamp.now.into()])?;
            audit::append(tx, DATABASE, stamp, &audit::Entry::of("revoke_token"))?;
            Ok(TokenRow { revoked_at: Some(stamp.now), ..found })
        })
    }
}

fn find(tx: &mut dyn Transaction, token: TokenReference<'_>) -> Result<TokenRow, StoreError> {
    let found = match token {
        TokenReference::Id(id) => tx.row(&sql::BY_ID, &[(&id).into()], TokenRow::read)?,
        TokenReference::Name(name) => tx.row(&sql::BY_NAME, &[name.into()], TokenRow::read)?,
    };
    found.ok_or_else(|| {
        StoreError::TokenNotFound(match token {
            TokenReference::Id(id) => id.to_string(),
            TokenReference::Name(name) => name.to_owned(),
        })
    })
}

impl TokenRow {
    fn read(row: &dyn Row) -> Result<Self, StoreError> {
        let words = |text: String| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let workspaces: String = row.get(3)?;
        Ok(Self {
            id: row.get(0)?,
            name: row.get(1)?,
            scopes: words(row.get(2)?),
            workspaces: (workspaces != ALL_WORKSPACES).then(|| words(workspaces)),
            created_at: row.get(4)?,
            created_by: row.get(5)?,
            expires_at: row.get(6)?,
            revoked_at: row.get(7)?,
        })
    }
}
