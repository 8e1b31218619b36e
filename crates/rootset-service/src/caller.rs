//! Who calls, and through which door: the few rules that differ by front end are decided from this, here in the service.

/// The door a request came through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrontEnd {
    CommandLine,
    Http,
    Mcp,
}

impl FrontEnd {
    /// What kind of origin a memory has when its writer does not say.
    pub fn default_source(self) -> &'static str {
        match self {
            Self::CommandLine | Self::Http => "user",
            Self::Mcp => "agent",
        }
    }
}

#[derive(Clone, Debug)]
pub struct Caller {
    pub front_end: FrontEnd,
    /// Audit's actor and a memory's `written_by`: `cli`, a token's name or an MCP client's.
    pub actor: String,
    /// The workspace of requests that name none.
    pub workspace: String,
}
