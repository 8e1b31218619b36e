//! An example or two of each command, shown below its help. A line belongs to the command that its words name. A command
//! may bring its own instead, by `after_help`.

use clap::Command;

const EXAMPLES: &[&str] = &[
    "rootset tour",
    "rootset install claude-code",
    "rootset install codex --project",
    "rootset install --all",
    "rootset install claude-code --undo",
    "rootset hooks off",
    "rootset hooks off --here --for 2h",
    "rootset hooks on",
    "rootset hooks status",
    "rootset hook --explain",
    "rootset import memory.jsonl --dry-run",
    "rootset add 'Alice owns scripts/deploy.sh.' --name deploy-owner --tag team",
    "git log -5 --format=%s | rootset add - --topic 'What changed this week'",
    "rootset search who owns the deploy script",
    "rootset search deploy --after 7d --tag team",
    "rootset search --all deploy",
    "rootset search --about Alice",
    "rootset list --tag team",
    "rootset list --order-by use_count --ascending -n 20",
    "rootset show deploy-owner",
    "rootset edit deploy-owner --text 'Bob owns scripts/deploy.sh.'",
    "rootset edit deploy-owner --pin='asked for every week'",
    "rootset review",
    "rootset review --keep prefers-tabs --drop likes-tea",
    "rootset brief",
    "rootset trust deploy-owner",
    "rootset untrust deploy-owner",
    "rootset supersede deploy-owner deploy-owner-2 --reason 'Bob took over'",
    "rootset supersede team-facts deploy-owner-2 --replace clause",
    "rootset entity show Alice",
    "rootset entity related Alice --depth 2",
    "rootset graph import graph.json",
    "rootset graph export --format json > graph.json",
    "rootset rm deploy-owner",
    "rootset forget Alice --dry-run",
    "rootset forget --source chat --before 90d",
    "rootset prune --dry-run",
    "rootset prune --strategy expired",
    "rootset undo",
    "rootset undo --last",
    "rootset trash",
    "rootset secrets scan",
    "rootset secrets redact",
    "rootset receipt verify erasure.json",
    "rootset receipt key",
    "rootset log --since 24h",
    "rootset audit --since 30d --kind forget",
    "rootset gc plan expired",
    "rootset gc apply 019aa1b2-3c4d-7000-8000-000000000001",
    "rootset gc undo --last",
    "rootset gc purge --older-than 30d",
    "rootset gc status",
    "rootset gc retention show",
    "rootset gc retention set --source chat --max-age 90d --dry-run",
    "rootset gc explain deploy-owner",
    "rootset index",
    "rootset index ~/falcon --repo falcon --no-tests",
    "rootset watch ~/falcon",
    "rootset code search retry with backoff",
    "rootset code symbol Cart.total",
    "rootset code callers Cart.total",
    "rootset code callees checkout",
    "rootset code references Cart.total --depth 3",
    "rootset code repos",
    "rootset context list",
    "rootset context import session.jsonl --session falcon",
    "rootset context add falcon 'the build is green' --type note",
    "rootset context show falcon",
    "rootset context analyze falcon --free 8000",
    "rootset context collect session.jsonl --to 40000 --write",
    "rootset context prune falcon --to 12000 --dry-run",
    "rootset context top falcon",
    "rootset context explain falcon m4",
    "rootset context restore falcon m13",
    "rootset context search falcon how long does a lease live",
    "rootset context pin falcon m4 --reason 'the task'",
    "rootset context unpin falcon m4",
    "rootset context compress falcon m13 'the limits, as a table'",
    "rootset context focus falcon --file src/pay.rs",
    "rootset context configure falcon --budget 100000",
    "rootset context export falcon --output falcon.json",
    "rootset context rm falcon",
    "rootset mcp",
    "rootset mcp --workspace falcon",
    "rootset mcp --read-only",
    "rootset serve",
    "rootset serve --listen 127.0.0.1:8080",
    "rootset daemon",
    "rootset model get all-minilm-l6-v2",
    "rootset model add ~/models/bge-small-en-v1.5 --link",
    "rootset model list",
    "rootset model remove all-minilm-l6-v2",
    "rootset daemon --once",
    "rootset token create ci --scopes read --workspaces falcon --expires 90d",
    "rootset token list",
    "rootset token rotate ci --overlap 1d",
    "rootset token revoke ci",
    "rootset call",
    "rootset call search_memory --schema",
    "rootset call search_memory '{\"query\": \"deploy\", \"limit\": 3}'",
    "rootset workspace list",
    "rootset workspace create falcon --max-memories 10000",
    "rootset workspace set falcon --no-quota",
    "rootset workspace which",
    "rootset workspace link falcon",
    "rootset workspace dismiss",
    "rootset workspace trust",
    "rootset workspace delete falcon --backup",
    "rootset backup create",
    "rootset backup list",
    "rootset backup verify 20261115-072659-1a2b3c4d",
    "rootset backup restore 20261115-072659-1a2b3c4d",
    "rootset doctor",
    "rootset doctor --salvage rescued",
    "rootset stats",
    "rootset stats --tags",
    "rootset defrag",
    "rootset config show",
    "rootset config example > rootset.toml",
    "rootset completions bash > ~/.local/share/bash-completion/completions/rootset",
    "rootset man gc plan | man -l -",
];

/// The same commands, each with its examples below its help.
pub fn shown_by(program: Command, heading: &str) -> Command {
    let path = vec![program.get_name().to_owned()];
    below(program, path, heading)
}

fn below(command: Command, path: Vec<String>, heading: &str) -> Command {
    let examples: Vec<String> = of(&path).map(|example| format!("  {example}")).collect();
    let command = if examples.is_empty() || command.get_after_help().is_some() {
        command
    } else {
        command.after_help(format!("{heading}\n{}", examples.join("\n")))
    };
    command.mut_subcommands(|inner| {
        let path = [path.as_slice(), &[inner.get_name().to_owned()]].concat();
        below(inner, path, heading)
    })
}

/// A group of commands shows the examples of all of them.
fn of(path: &[String]) -> impl Iterator<Item = &'static str> + use<'_> {
    let is_of_command = move |example: &&str| {
        let mut words = invocation(example).split(' ');
        path.len() > 1 && path.iter().all(|name| words.next() == Some(name))
    };
    EXAMPLES.iter().copied().filter(is_of_command)
}

/// The part of a pipeline that is ours.
fn invocation(example: &str) -> &str {
    let start = example.find("rootset").unwrap_or_default();
    &example[start..]
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::ffi::OsString;

    use clap::CommandFactory;

    use super::*;
    use crate::arguments::{Arguments, parse};

    /// As a shell splits it, as far as the examples need: quotes, and the end at a pipe or a redirection.
    fn words(example: &str) -> Vec<OsString> {
        let (mut words, mut word, mut is_quoted) = (Vec::new(), String::new(), false);
        for character in invocation(example).chars() {
            match character {
                '\'' => is_quoted = !is_quoted,
                '|' | '>' if !is_quoted => break,
                ' ' if !is_quoted => words.push(std::mem::take(&mut word)),
                character => word.push(character),
            }
        }
        words.push(word);
        words.into_iter().filter(|word| !word.is_empty()).map(OsString::from).collect()
    }

    #[test]
    fn every_example_is_understood() {
        for example in EXAMPLES {
            if let Err(error) = parse(&words(example)) {
                panic!("{example}: {error}");
            }
        }
    }

    #[test]
    fn every_command_has_an_example_in_its_help() {
        let mut program = shown_by(Arguments::command(), "Examples:");
        program.build();
        let mut commands = vec![(program.clone(), vec!["rootset".to_owned()])];
        let mut shown = BTreeSet::new();
        while let Some((mut command, path)) = commands.pop() {
            let inner: Vec<Command> = command.get_subcommands().filter(|it| it.get_name() != "help").cloned().collect();
            if inner.is_empty() {
                let help = command.render_long_help().to_string();
                let line = format!("  {}", path.join(" "));
                assert!(help.lines().any(|it| it.contains(line.trim_start())), "`{}` has no example", path.join(" "));
                shown.extend(help.lines().map(|line| line.trim().to_owned()));
            }
            for command in inner {
                let path = [path.as_slice(), &[command.get_name().to_owned()]].concat();
                commands.push((command, path));
            }
        }
        let lost: Vec<_> = EXAMPLES.iter().filter(|example| !shown.contains(**example)).collect();
        assert!(lost.is_empty(), "{lost:?} belong to no command");
    }
}
