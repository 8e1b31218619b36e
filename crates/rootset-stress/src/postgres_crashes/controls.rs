//! Mistakes that a run must notice, or it proves nothing.
//!
//! They are planted into the server or its door: the product knows nothing of them.

use std::fmt;

use rootset_testing::{Proxy, Sql};

use crate::error::StressError;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// Commits do not wait for the disk (`synchronous_commit = off`).
    NotWaitedFor,
    /// Commits are answered before they are made.
    AnsweredEarly,
    /// After a lost answer, the server is asked by the number of the transaction instead of its token.
    AskedByNumber,
}

impl Control {
    pub const ALL: [Self; 3] = [Self::NotWaitedFor, Self::AnsweredEarly, Self::AskedByNumber];

    pub fn plant(self, sql: &Sql, door: &Proxy) -> Result<(), StressError> {
        let body = match self {
            Self::AnsweredEarly => {
                door.answer_commits_early();
                return Ok(());
            }
            Self::NotWaitedFor => NOT_WAITED_FOR,
            Self::AskedByNumber => ASKED_BY_NUMBER,
        };
        // Every transaction that writes inserts its token, and so does whoever asks for one.
        Ok(sql.execute_batch(&format!(
            "CREATE FUNCTION mistake() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $${body}$$;
             CREATE TRIGGER mistake BEFORE INSERT ON commits FOR EACH ROW EXECUTE FUNCTION mistake()"
        ))?)
    }
}

impl fmt::Display for Control {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotWaitedFor => "commits do not wait for the disk",
            Self::AnsweredEarly => "commits are answered before they are made",
            Self::AskedByNumber => "lost commits are asked for by number",
        })
    }
}

const NOT_WAITED_FOR: &str = "BEGIN PERFORM set_config('synchronous_commit', 'off', TRUE); RETURN NEW; END";

/// The number is noted in a file, which a crash of the server leaves alone. Who inserts a token that has a file is asking.
const ASKED_BY_NUMBER: &str = "
DECLARE
  file CONSTANT TEXT := 'number-of-' || encode(NEW.token, 'hex');
  number OID;
BEGIN
  IF (pg_stat_file(file, TRUE)).size IS NULL THEN
    number := lo_from_bytea(0, convert_to(pg_current_xact_id()::TEXT, 'UTF8'));
    PERFORM lo_export(number, file);
    RETURN NEW;
  END IF;
  CASE pg_xact_status(pg_read_file(file)::xid8)
    WHEN 'committed' THEN RAISE unique_violation;
    WHEN 'aborted' THEN RETURN NULL;
    ELSE RAISE lock_not_available;
  END CASE;
EXCEPTION
  -- The server has not come to this number again yet.
  WHEN invalid_parameter_value THEN RETURN NULL;
END";
