//! `rootset config`.

#![expect(clippy::disallowed_types, reason = "settings have values of any type")]

use clap::Subcommand;
use serde_json::{Map, Value, json};

use crate::configuration::{self, ShownSetting};
use crate::exit::Failure;
use crate::program::Program;
use crate::render::{Column, Table, escaped};

#[derive(Debug, Subcommand)]
pub enum ConfigCommand {
    /// Show every setting with its origin
    Show,
    /// Print a configuration file with every key and default
    Example,
}

pub fn run(command: ConfigCommand, program: &Program) -> Result<(), Failure> {
    match command {
        ConfigCommand::Example => program.output.text(&configuration::example()),
        ConfigCommand::Show => {
            let shown = &program.configuration()?.shown;
            program.output.answer(&as_json(shown), |_| as_table(shown))
        }
    }
}

fn as_json(shown: &[ShownSetting]) -> Value {
    let settings: Map<String, Value> = shown
        .iter()
        .map(|setting| (setting.key.clone(), json!({"value": setting.value, "origin": setting.origin})))
        .collect();
    json!({ "settings": settings })
}

fn as_table(shown: &[ShownSetting]) -> String {
    let mut table = Table::new([Column::whole("KEY"), Column::whole("VALUE"), Column::whole("ORIGIN")]);
    for setting in shown {
        let value = match &setting.value {
            Value::Null => "(not set)".to_owned(),
            value => escaped(&value.to_string()),
        };
        table.row([setting.key.clone(), value, escaped(&setting.origin)]);
    }
    table.finish()
}
