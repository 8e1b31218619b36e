//! What full text is asked and answers, in the words of both engines.

/// Which of the separate full-text indexes of a workspace is meant. They never share statistics.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SearchIndex {
    /// Chunks of memories that people and agents wrote.
    Memories,
    /// Names of entities, but not of symbols.
    Entities,
    /// Chunks of indexed files.
    Code,
    /// Segments that were stashed at least once, by their numbers.
    Stash,
}

impl SearchIndex {
    pub const ALL: [Self; 4] = [Self::Memories, Self::Entities, Self::Code, Self::Stash];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Memories => "memories",
            Self::Entities => "entities",
            Self::Code => "code",
            Self::Stash => "stash",
        }
    }
}

/// How the terms of deleted rows leave an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchRemoval {
    /// At once, term by term: the right thing for few rows.
    AtOnce,
    /// Marked now, gone when the index has been rewritten by [`super::Transaction::search_compact`]: many times faster for many
    /// rows. Whoever deletes so sees to the rewriting.
    Marked,
}

/// A row of a full-text index: terms already split, folded and stemmed by the caller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchRow {
    pub key: i64,
    pub head: String,
    pub body: String,
}

/// How terms of a full-text query combine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Combine {
    Any,
    All,
}

#[derive(Clone, Copy, Debug)]
pub struct SearchQuery<'a> {
    pub terms: &'a [String],
    pub combine: Combine,
    pub limit: usize,
    /// With [`Combine::Any`]: a term that more rows hold says too little to be worth reading them.
    pub rows_per_term_max: usize,
}

/// Counts of one full-text index.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SearchStatistics {
    /// Rows that hold each of the terms asked for, in their order.
    pub frequencies: Vec<i64>,
    pub rows: i64,
    pub body_terms: i64,
}
