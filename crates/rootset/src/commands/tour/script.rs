//! What the tour shows, in order.

/// The folder that commands are run in, as paths in them show it.
pub const WORK: &str = "work";

pub const FAREWELL: &str = "\
The tour's database is gone. For your own:
  rootset install claude-code      (or cursor, vscode, codex) gives an agent this memory
  rootset add \"…\"                  stores something yourself
  rootset log                      what was added and removed recently, and how to undo it
  rootset --help                   everything else";

pub struct Chapter {
    pub title: &'static str,
    pub text: &'static str,
    pub steps: &'static [Step],
}

pub struct Step {
    /// Empty where the step before says it.
    pub why: &'static str,
    pub action: StepAction,
}

#[derive(Clone, Copy)]
pub enum StepAction {
    Rootset(&'static [&'static str]),
    /// Below the folder of the tour.
    RemoveFile(&'static str),
}

impl Step {
    /// As somebody would type it.
    pub fn command(&self) -> String {
        match self.action {
            StepAction::RemoveFile(path) => format!("rm {path}"),
            StepAction::Rootset(arguments) => {
                let quoted = |argument: &&str| {
                    if argument.contains(' ') { format!("\"{argument}\"") } else { (*argument).to_owned() }
                };
                format!("rootset {}", arguments.iter().map(quoted).collect::<Vec<_>>().join(" "))
            }
        }
    }
}

const fn rootset(why: &'static str, arguments: &'static [&'static str]) -> Step {
    Step { why, action: StepAction::Rootset(arguments) }
}

pub const CHAPTERS: &[Chapter] = &[
    Chapter {
        title: "Memories",
        text: "What an agent learns, with the entities and relations that follow from it.",
        steps: &[
            rootset(
                "remember two things",
                &["add", "Project Falcon uses PostgreSQL. Alice owns scripts/deploy.sh.", "--name", "falcon-deploy"],
            ),
            rootset("", &["add", "Project Falcon depends on Redis.", "--name", "falcon-cache"]),
            rootset("plain words find them", &["search", "who owns the deploy script?"]),
            rootset("both memories vouch for this entity", &["entity", "show", "Project Falcon"]),
        ],
    },
    Chapter {
        title: "A mistake, undone",
        text: "What you remove goes to the trash first, with everything that only it vouched for.",
        steps: &[
            rootset("what would be forgotten? nothing is, yet", &["forget", "Redis", "--dry-run"]),
            rootset("the mistake", &["rm", "falcon-cache", "--yes"]),
            rootset("Redis is gone from the graph too", &["search", "--entities", "Redis"]),
            rootset("undo it", &["undo", "--last"]),
            rootset("", &["search", "--entities", "Redis"]),
        ],
    },
    Chapter {
        title: "A repository, indexed and pruned",
        text: "Source files are memories too. The folder `shop` holds three small ones.",
        steps: &[
            rootset("read the sources", &["index", "shop"]),
            rootset("who calls it?", &["code", "callers", "total"]),
            Step { why: "a file is deleted", action: StepAction::RemoveFile("shop/legacy.py") },
            rootset("the next scan notices", &["index", "shop"]),
            rootset("the collector removes what is stale; it asks first, unless you say --yes", &["prune", "--yes"]),
        ],
    },
    Chapter {
        title: "A context window, collected",
        text: "The file `session.json` is a session of an agent: messages, a file, and one long log.",
        steps: &[
            rootset("read it", &["context", "import", "session.json", "--session", "login"]),
            rootset("what could leave, and why?", &["context", "analyze", "login", "--free", "3000", "--limit", "4"]),
            rootset("stash it: it leaves the window but is not lost", &["context", "prune", "login", "--free", "3000"]),
            rootset("the stash can be searched", &["context", "search", "login", "slow worker"]),
            rootset("and a segment returned to its place", &["context", "restore", "login", "m4"]),
        ],
    },
];
