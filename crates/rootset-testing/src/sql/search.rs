//! The rows of full-text indexes, which every engine keeps in tables of its own.

use rootset_store::driver::{SearchIndex, SearchRow};

use super::{Connection, Sql, SqlError};

impl Sql {
    /// All rows of a workspace's index by their keys.
    pub fn search_rows(&self, workspace: i64, index: SearchIndex) -> Result<Vec<SearchRow>, SqlError> {
        let table = format!("search_{}_{workspace}", index.as_str());
        let sql = match &self.0 {
            // Made with the first row.
            Connection::Sqlite(connection) if !connection.table_exists(None, table.as_str())? => return Ok(Vec::new()),
            Connection::Sqlite(_) => format!("SELECT rowid, head, body FROM {table} ORDER BY 1"),
            Connection::Postgres(_) => format!(
                "SELECT key, head, body FROM search_rows WHERE workspace = {workspace} AND kind = '{}' ORDER BY 1",
                index.as_str()
            ),
        };
        self.rows(&sql, &[], |row| Ok(SearchRow { key: row.get(0)?, head: row.get(1)?, body: row.get(2)? }))
    }

    /// Rows that nothing else vouches for.
    pub fn insert_search_row(&self, workspace: i64, index: SearchIndex, row: &SearchRow) -> Result<(), SqlError> {
        let sql = match &self.0 {
            Connection::Sqlite(_) => {
                format!("INSERT INTO search_{}_{workspace}(rowid, head, body) VALUES (?1, ?2, ?3)", index.as_str())
            }
            Connection::Postgres(_) => format!(
                "INSERT INTO search_rows (workspace, kind, key, head, body) VALUES ({workspace}, '{}', ?1, ?2, ?3)",
                index.as_str()
            ),
        };
        self.execute(&sql, &[row.key.into(), (&row.head).into(), (&row.body).into()])?;
        Ok(())
    }

    /// Behind the store's back, those that are asked for by their keys.
    pub fn delete_search_rows(
        &self,
        workspace: i64,
        index: SearchIndex,
        is_chosen: impl Fn(i64) -> bool,
    ) -> Result<(), SqlError> {
        let sql = match &self.0 {
            Connection::Sqlite(_) => format!("DELETE FROM search_{}_{workspace} WHERE rowid = ?1", index.as_str()),
            Connection::Postgres(_) => {
                format!(
                    "DELETE FROM search_rows WHERE workspace = {workspace} AND kind = '{}' AND key = ?1",
                    index.as_str()
                )
            }
        };
        for row in self.search_rows(workspace, index)? {
            if is_chosen(row.key) {
                self.execute(&sql, &[row.key.into()])?;
            }
        }
        Ok(())
    }
}
