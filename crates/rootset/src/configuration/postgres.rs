//! Settings of the connections to a PostgreSQL server.

use rootset_service::ServiceError;
use rootset_store::PostgresSettings;

use super::Reader;

impl Reader {
    pub(super) fn postgres(&self) -> Result<PostgresSettings, ServiceError> {
        let defaults = PostgresSettings::default();
        let pool_size = self.count("postgres.pool_size").and_then(|count| usize::try_from(count).ok());
        Ok(PostgresSettings {
            pool_size: pool_size.unwrap_or(defaults.pool_size),
            statement_timeout_ms: self.milliseconds("postgres.statement_timeout", defaults.statement_timeout_ms)?,
            connect_timeout_ms: self.milliseconds("postgres.connect_timeout", defaults.connect_timeout_ms)?,
        })
    }

    fn milliseconds(&self, key: &str, default: u64) -> Result<u64, ServiceError> {
        Ok(self.duration_ms(key, i64::try_from(default).unwrap_or(i64::MAX))?.unsigned_abs())
    }
}
