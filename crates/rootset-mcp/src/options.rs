//! The options a server starts with.

use rootset_api::Profiles;
use rootset_model::names::HOME_WORKSPACE;
use rootset_service::{Person, Rights};

use crate::folders::ByFolders;

/// How a server answers.
#[derive(Clone, Debug)]
pub struct McpOptions {
    pub profiles: Profiles,
    /// The workspace of calls that name none.
    pub workspace: String,
    /// Audit's actor; `None`: the client's own name, made safe.
    pub actor: Option<String>,
    /// What its clients may do.
    pub rights: Rights,
    /// Whose personal memory its clients share.
    pub person: Option<Person>,
    /// What decides `workspace` and `rights` by the folders that the client tells, where nobody named a place.
    pub by_folders: Option<ByFolders>,
    /// How a person calls the program in a terminal on this database: `rootset`, or `rootset --db PATH`.
    pub terminal_command: String,
}

impl Default for McpOptions {
    fn default() -> Self {
        Self {
            profiles: Profiles::default(),
            workspace: HOME_WORKSPACE.to_owned(),
            actor: None,
            rights: Rights::default(),
            person: Some(Person::LOCAL),
            by_folders: None,
            terminal_command: "rootset".to_owned(),
        }
    }
}
