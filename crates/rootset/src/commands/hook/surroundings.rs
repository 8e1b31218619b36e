//! Where a client works, and which files it gives its model by itself.

use std::path::{Path, PathBuf};

use rootset_messages::hooks::{HookClient, HookEvent};
use rootset_service::Project;
use rootset_service::hooks::Surroundings;

/// Claude Code keeps its own memory beside its transcripts.
const OWN_MEMORY: &str = "memory/MEMORY.md";

/// The folder whose project an event is about. An agent that changes its folder is still at work in the same project.
pub fn folder(client: HookClient, event: &HookEvent) -> PathBuf {
    let named = match client {
        HookClient::ClaudeCode => absolute("CLAUDE_PROJECT_DIR"),
        HookClient::GeminiCli => absolute("GEMINI_PROJECT_DIR"),
        HookClient::Cursor => absolute("CURSOR_PROJECT_DIR"),
        HookClient::Codex => None,
    };
    let of_event = || event.folder.as_deref().map(PathBuf::from).filter(|path| path.is_absolute());
    named.or_else(of_event).or_else(|| std::env::current_dir().ok()).unwrap_or_default()
}

pub fn of(client: HookClient, event: &HookEvent, folder: &Path) -> Surroundings {
    let root = Project::around(folder).map_or_else(|| folder.to_owned(), |project| project.root().to_owned());
    let home = std::env::home_dir().filter(|home| home.is_absolute());
    let own = |variable: &str, below_home: &str| absolute(variable).or_else(|| Some(home.as_ref()?.join(below_home)));
    let mut own_files = Vec::new();
    match client {
        HookClient::ClaudeCode => {
            own_files.extend(own("CLAUDE_CONFIG_DIR", ".claude").map(|it| it.join("CLAUDE.md")));
            own_files.extend(["CLAUDE.md", ".claude/CLAUDE.md", "CLAUDE.local.md"].map(|name| root.join(name)));
            let transcripts = event.transcript_path.as_deref().map(Path::new).and_then(Path::parent);
            own_files.extend(transcripts.map(|it| it.join(OWN_MEMORY)));
        }
        HookClient::Codex => {
            own_files.extend(own("CODEX_HOME", ".codex").map(|it| it.join("AGENTS.md")));
            own_files.push(root.join("AGENTS.md"));
        }
        HookClient::GeminiCli => {
            own_files.extend(home.as_ref().map(|home| home.join(".gemini/GEMINI.md")));
            own_files.push(root.join("GEMINI.md"));
        }
        HookClient::Cursor => own_files.extend([".cursorrules", "AGENTS.md"].map(|name| root.join(name))),
    }
    Surroundings { client, own_files }
}

fn absolute(variable: &str) -> Option<PathBuf> {
    std::env::var_os(variable).map(PathBuf::from).filter(|path| path.is_absolute())
}
