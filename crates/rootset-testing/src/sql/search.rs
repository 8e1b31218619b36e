//! The rows of full-text indexes, which every engine keeps in tables of its own.

use rootset_store::driver::{SearchIndex, SearchRow};

use super::{Connection, Sql, SqlError};

impl Sql {
    /// All rows of a workspace's index by their keys.
    pub fn search_rows(&self, workspace: i64, index: SearchIndex) -> Result<Vec<SearchRow>, SqlError> {
        let table = sqlite_table(workspace, index);
        let sql = match &self.0 {
            // Made with the first row.
            Connection::Sqlite(connection) if !connection.table_exists(None, table.as_str())? => return Ok(Vec::new()),
            Connection::Sqlite(_) => format!("SELECT rowid, head, body FROM {table} ORDER BY 1"),
            Connection::Postgres(_) => format!(
                "SELECT key, head, body FROM search_rows WHERE workspace = {workspace} AND kind = {} ORDER BY 1",
                kind(index)
            ),
        };
        self.rows(&sql, &[], |row| Ok(SearchRow { key: row.get(0)?, head: row.get(1)?, body: row.get(2)? }))
    }

    /// A row of one term that nothing else vouches for.
    pub fn insert_search_row(&self, workspace: i64, index: SearchIndex, key: i64, term: &str) -> Result<(), SqlError> {
        let table = sqlite_table(workspace, index);
        let number = kind(index);
        match &self.0 {
            Connection::Sqlite(_) => self
                .execute(
                    &format!("INSERT INTO {table} (rowid, head, body) VALUES (?1, '', ?2)"),
                    &[key.into(), term.into()],
                )
                .map(drop),
            Connection::Postgres(_) => self.execute_batch(&format!(
                "SELECT set_config('rootset.workspace', '{workspace}', FALSE);
                 SELECT search_insert({number}, ARRAY[{key}]::BIGINT[], ARRAY[''], ARRAY['{term}'],
                                      ARRAY['{workspace}/{number}/{term}'], ARRAY['{term}'], ARRAY[1]::BIGINT[], 1)"
            )),
        }
    }

    /// Behind the store's back, those that are asked for by their keys.
    pub fn delete_search_rows(
        &self,
        workspace: i64,
        index: SearchIndex,
        is_chosen: impl Fn(i64) -> bool,
    ) -> Result<(), SqlError> {
        let rows = self.search_rows(workspace, index)?.into_iter();
        let keys: Vec<String> = rows.filter(|row| is_chosen(row.key)).map(|row| row.key.to_string()).collect();
        let (keys, table) = (keys.join(", "), sqlite_table(workspace, index));
        self.execute_batch(&match &self.0 {
            Connection::Sqlite(_) => format!("DELETE FROM {table} WHERE rowid IN ({keys})"),
            Connection::Postgres(_) => format!(
                "SELECT set_config('rootset.workspace', '{workspace}', FALSE);
                 SELECT search_delete({}, ARRAY[{keys}]::BIGINT[])",
                kind(index)
            ),
        })
    }
}

fn sqlite_table(workspace: i64, index: SearchIndex) -> String {
    format!("search_{}_{workspace}", index.as_str())
}

/// The number of an index in PostgreSQL's tables.
fn kind(index: SearchIndex) -> usize {
    SearchIndex::ALL.iter().position(|it| *it == index).expect("all of them")
}
