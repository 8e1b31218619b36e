//! Which workspace it was, in words for a person. Agents never read these lines: they are told only of workspaces that they
//! search.

use rootset_service::{Decided, Reason, Remark};
use rootset_store::{Arrival, RelatedBy};

use crate::render::{self, counted, escaped};

/// The lines about a workspace that was decided. `is_watched`: somebody looks at the terminal.
pub fn in_words(decided: &Decided, is_watched: bool) -> Vec<String> {
    let mut lines = Vec::new();
    let (id, why) = (&decided.workspace_id, decided.reason.word());
    let arrival = match &decided.reason {
        Reason::Project { arrival, .. } => *arrival,
        Reason::Home => return lines,
    };
    match arrival {
        Arrival::Created => lines.push(format!("new workspace {id} ({why})")),
        Arrival::Joined => lines.push(format!("workspace {id} ({why}: the remote and the first commit are the same)")),
        Arrival::Claimed => lines.push(format!("workspace {id} ({why}: what is indexed in it lies here)")),
        Arrival::Known if is_watched => lines.push(render::dim(format!("workspace {id} ({why})"))),
        Arrival::Known => {}
    }
    for remark in &decided.remarks {
        let is_said = is_watched || arrival == Arrival::Created || !matches!(remark, Remark::Related { .. });
        if is_said {
            lines.push(of_remark(remark));
        }
    }
    lines
}

fn of_remark(remark: &Remark) -> String {
    match remark {
        Remark::Unclaimed { workspace_id: id, memories } => format!(
            "{} in {id} from before: `rootset workspace link {id}` if they belong here, `rootset workspace dismiss` if not",
            counted(*memories, "memory", "memories")
        ),
        Remark::Related { workspace_id: id, by } => {
            let what = match by {
                RelatedBy::RootCommit => "first commit",
                RelatedBy::Name | RelatedBy::Remote => "remote",
            };
            format!(
                "workspace {id} has the same {what}: `rootset workspace link {id}` joins it, `rootset workspace dismiss` \
                 does not"
            )
        }
        Remark::Untrusted { workspace_id: id } => {
            format!("rootset.toml names the workspace {}: `rootset workspace trust` allows it", escaped(id))
        }
    }
}
