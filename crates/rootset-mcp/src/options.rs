//! The options a server starts with.

use rootset_api::Profiles;
use rootset_service::{Person, Rights, ServiceError};

/// How a server answers.
#[derive(Clone, Debug)]
pub struct McpOptions {
    pub profiles: Profiles,
    /// The workspace of calls that name none.
    pub workspace: String,
    /// Why no call may be carried out: which workspace is meant is in doubt. The client still connects, so that its model
    /// and its person read the reason.
    pub refusal: Option<ServiceError>,
    /// Audit's actor; `None`: the client's own name, made safe.
    pub actor: Option<String>,
    /// What its clients may do.
    pub rights: Rights,
    /// Whose personal memory its clients share.
    pub person: Option<Person>,
    /// How a person calls the program in a terminal on this database: `rootset`, or `rootset --db PATH`.
    pub terminal_command: String,
}

impl Default for McpOptions {
    fn default() -> Self {
        Self {
            profiles: Profiles::default(),
            workspace: "default".to_owned(),
            refusal: None,
            actor: None,
            rights: Rights::default(),
            person: Some(Person::LOCAL),
            terminal_command: "rootset".to_owned(),
        }
    }
}
