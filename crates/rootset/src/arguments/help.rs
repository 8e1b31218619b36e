//! Help on the terminal: `rootset --help` groups the commands by purpose, and an argument that stands for a field of a
//! request is described by the documentation of that field.

use std::fmt::Write;

use anstyle::Style;
use clap::{Arg, ArgAction, Command};
use rootset_api::Request;

/// Commands by name, in the order they are shown. One that is missing here is shown at the end.
const GROUPS: [(&str, &[&str]); 6] = [
    ("Start", &["tour", "install", "import"]),
    (
        "Memories",
        &["add", "search", "list", "show", "brief", "edit", "review", "trust", "supersede", "entity", "graph"],
    ),
    ("Forgetting", &["rm", "forget", "prune", "undo", "trash", "secrets", "receipt", "log", "audit", "gc"]),
    ("Code and context", &["index", "watch", "code", "context"]),
    ("Servers and programs", &["mcp", "serve", "daemon", "token", "call", "hooks"]),
    ("Upkeep", &["workspace", "backup", "doctor", "stats", "defrag", "model", "config", "completions"]),
];
const REST: &str = "More";

/// The same arguments, with a help that has an order.
pub fn grouped(command: Command) -> Command {
    let template = format!(
        "{{about}}\n\n{{usage-heading}} {{usage}}\n{}\n{}\n{{options}}\n\n{}\n",
        commands(&command),
        heading("Options"),
        "`rootset COMMAND --help` shows more about a command; `rootset man` prints a manual page."
    );
    command.help_template(template)
}

/// The command, with each argument that has the id of a field of the request described as the field is. Used with
/// `#[command(defer(…))]`: clap then calls it for the command that is run or shown, and start-up does not pay for the others.
pub fn described_by<R: Request>(command: Command) -> Command {
    command.mut_args(|argument| {
        let described = R::operation().field_description(argument.get_id().as_str());
        let Some(description) = described.filter(|_| !argument.is_global_set()) else { return argument };
        let remark = argument.get_help().map(ToString::to_string);
        debug_assert!(
            remark.as_ref().is_none_or(|remark| remark.starts_with('[')),
            "`{}` is described by `{}`; only a remark in brackets may be added: {remark:?}",
            argument.get_id(),
            R::NAME,
        );
        let parts = [Some(shortened(description, &argument).to_owned()), repetition(&argument), remark];
        argument.help(parts.into_iter().flatten().collect::<Vec<_>>().join(" "))
    })
}

/// The first sentence, without what is of no use on a command line: the default of a switch, and remarks about command lines.
fn shortened<'a>(description: &'a str, argument: &Arg) -> &'a str {
    let is_end = |place: &usize| description[place + 2..].starts_with(char::is_uppercase);
    let end = description.match_indices(". ").map(|(place, _)| place).find(is_end);
    let sentence = description[..end.unwrap_or(description.len())].trim_end_matches('.');
    let sentence = sentence.split("; on the command line").next().unwrap_or(sentence);
    if argument.get_action().takes_values() {
        return sentence;
    }
    [" (true)", " (false)"].into_iter().find_map(|default| sentence.strip_suffix(default)).unwrap_or(sentence)
}

fn repetition(argument: &Arg) -> Option<String> {
    let is_repeated = matches!(argument.get_action(), ArgAction::Append)
        && !argument.is_positional()
        && argument.get_value_delimiter().is_none();
    is_repeated.then(|| "(may be repeated)".to_owned())
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
pub fn heading(title: &str) -> String {
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
        for subcommand in command.get_subcommands().filter(|it| it.get_name() != "help" && !it.is_hide_set()) {
            let name = format!("  {}", subcommand.get_name());
            let plain = anstream::adapter::strip_str(&shown).to_string();
            let lines: Vec<&str> = plain.lines().filter(|line| line.starts_with(&format!("{name} "))).collect();
            assert_eq!(lines.len(), 1, "{name}: {lines:?}");
            assert!(lines[0].chars().count() <= 100, "{} is too long", lines[0]);
        }
    }

    #[test]
    fn every_argument_has_help() {
        let mut program = Arguments::command();
        program.build();
        let mut commands = vec![&program];
        while let Some(command) = commands.pop() {
            for argument in command.get_arguments().filter(|it| !it.is_hide_set()) {
                let (command, argument, help) = (command.get_name(), argument.get_id(), argument.get_help());
                assert!(help.is_some_and(|it| !it.to_string().is_empty()), "`{argument}` of `{command}` has no help");
                assert!(!help.is_some_and(|it| it.to_string().ends_with('.')), "`{argument}` of `{command}`: {help:?}");
            }
            commands.extend(command.get_subcommands().filter(|it| it.get_name() != "help"));
        }
    }

    #[test]
    fn the_first_sentence_of_a_field_describes_its_argument() {
        let shown = |description, argument: Arg| shortened(description, &argument).to_owned();
        let option = || Arg::new("x").long("x");
        let switch = || option().action(ArgAction::SetTrue);
        assert_eq!(shown("Words, e.g. `a` or `b`. They match exactly.", option()), "Words, e.g. `a` or `b`");
        assert_eq!(shown("How many (10).", option()), "How many (10)");
        assert_eq!(shown("Only show what would go (true).", switch()), "Only show what would go");
        assert_eq!(shown("Point it elsewhere (false); on the command line only.", switch()), "Point it elsewhere");
    }
}
