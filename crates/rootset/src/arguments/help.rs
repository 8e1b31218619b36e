//! `rootset --help`: the commands by what they are for. What each does is said once, where its arguments are.

use std::fmt::Write;

use anstyle::Style;
use clap::Command;

/// Commands by name, in the order they are shown. One that is missing here is shown at the end.
const GROUPS: [(&str, &[&str]); 6] = [
    ("Start", &["tour", "install", "import"]),
    ("Memories", &["add", "search", "list", "show", "edit", "supersede", "entity", "graph"]),
    ("Forgetting", &["rm", "forget", "prune", "undo", "trash", "log", "gc"]),
    ("Code and context", &["index", "watch", "code", "context"]),
    ("Servers and programs", &["mcp", "serve", "daemon", "token", "call"]),
    ("Upkeep", &["workspace", "backup", "doctor", "stats", "defrag", "config", "completions", "man"]),
];
const REST: &str = "More";

/// The same arguments, with a help that has an order.
pub fn grouped(command: Command) -> Command {
    let template = format!(
        "{{about}}\n\n{{usage-heading}} {{usage}}\n{}\n{}\n{{options}}\n\n{}\n",
        commands(&command),
        heading("Options"),
        "`rootset COMMAND --help` says more about a command; `rootset man` prints a manual page."
    );
    command.help_template(template)
}

fn commands(command: &Command) -> String {
    let is_listed = |name: &str| GROUPS.iter().any(|(_, names)| names.contains(&name));
    let visible: Vec<&Command> = command.get_subcommands().filter(|it| !it.is_hide_set()).collect();
    let rest: Vec<&str> = visible.iter().map(|it| it.get_name()).filter(|name| !is_listed(name)).collect();
    let width = visible.iter().map(|it| it.get_name().len()).max().unwrap_or(0);
    let mut shown = String::new();
    for (title, names) in GROUPS.into_iter().chain([(REST, rest.as_slice())]) {
        let group: Vec<&&Command> =
            names.iter().filter_map(|name| visible.iter().find(|it| it.get_name() == *name)).collect();
        if group.is_empty() {
            continue;
        }
        write!(shown, "\n{}\n", heading(title)).expect("writing to a string cannot fail");
        for command in group {
            let about = command.get_about().map(ToString::to_string).unwrap_or_default();
            let (name, bold) = (command.get_name(), Style::new().bold());
            writeln!(shown, "  {bold}{name:width$}{bold:#}  {about}").expect("writing to a string cannot fail");
        }
    }
    shown
}

/// As clap shows its own.
fn heading(title: &str) -> String {
    let style = Style::new().bold().underline();
    format!("{style}{title}:{style:#}")
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::arguments::Arguments;

    #[test]
    fn every_command_is_shown_once_and_short_enough_for_a_line() {
        let command = Arguments::command();
        let shown = commands(&command);
        for subcommand in command.get_subcommands().filter(|it| it.get_name() != "help") {
            let name = format!("  {}", subcommand.get_name());
            let plain = anstream::adapter::strip_str(&shown).to_string();
            let lines: Vec<&str> = plain.lines().filter(|line| line.starts_with(&format!("{name} "))).collect();
            assert_eq!(lines.len(), 1, "{name}: {lines:?}");
            assert!(lines[0].chars().count() <= 100, "{} is too long", lines[0]);
        }
    }
}
