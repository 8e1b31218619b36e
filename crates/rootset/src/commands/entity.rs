//! `rootset entity`.

use std::fmt::Write;

use clap::{Args, Subcommand};
use rootset_api::{EntityWithRelations, GetEntity, GetRelated, RelatedAnswer, RelationAnswer};

use crate::arguments::described_by;
use crate::exit::Failure;
use crate::program::Program;
use crate::render::{self, Column, Table, counted, escaped, one_line};

#[derive(Debug, Subcommand)]
pub enum EntityCommand {
    /// Show an entity with its relations
    #[command(defer(described_by::<GetEntity>))]
    Show {
        #[arg(id = "entity_id", value_name = "ID")]
        entity: String,
    },
    Related(RelatedArguments),
}

/// Walk the graph from one entity
#[derive(Debug, Args)]
#[command(defer(described_by::<GetRelated>))]
pub struct RelatedArguments {
    #[arg(id = "entity_id", value_name = "ID")]
    entity: String,
    #[arg(long, value_name = "COUNT")]
    depth: Option<i64>,
    #[arg(long, short = 'n', value_name = "COUNT")]
    limit: Option<i64>,
}

pub fn run(command: EntityCommand, program: &Program) -> Result<(), Failure> {
    match command {
        EntityCommand::Show { entity } => {
            let answer = program.run(GetEntity { workspace_id: None, entity_id: entity })?;
            program.output.answer(&answer, one)
        }
        EntityCommand::Related(arguments) => {
            let (entity_id, depth, limit) = (arguments.entity, arguments.depth, arguments.limit);
            let answer = program.run(GetRelated { workspace_id: None, entity_id, depth, limit })?;
            program.output.answer(&answer, related)
        }
    }
}

fn one(answer: &EntityWithRelations) -> String {
    let entity = &answer.entity;
    let memories = counted(entity.refcount, "memory", "memories");
    let mut shown = format!(
        "{}  {}\n",
        render::bold(one_line(&entity.name, usize::MAX)),
        render::dim(format!("{}, {}, {memories}", escaped(&entity.entity_type), entity.origin))
    );
    let mut line = |text: String| writeln!(shown, "{text}").expect("writing to a string cannot fail");
    line(render::dim(&entity.entity_id));
    if !entity.description.is_empty() {
        line(escaped(&entity.description));
    }
    if !answer.relations.is_empty() {
        line(String::new());
    }
    answer.relations.iter().for_each(|relation| line(arrow(relation)));
    if !entity.memory_ids.is_empty() {
        line(format!("\n{}", render::bold("Memories")));
    }
    entity.memory_ids.iter().for_each(|id| line(id.to_string()));
    shown
}

fn related(answer: &RelatedAnswer) -> String {
    if answer.entities.is_empty() {
        return "no related entities; `rootset entity show` shows one with its relations\n".to_owned();
    }
    let mut table = Table::new([
        Column::name("NAME"),
        Column::fixed("TYPE"),
        Column::fixed("MEMORIES"),
        Column::text("DESCRIPTION"),
    ]);
    for entity in &answer.entities {
        table.row([
            one_line(&entity.name, 60),
            one_line(&entity.entity_type, 20),
            entity.refcount.to_string(),
            one_line(&entity.description, 80),
        ]);
    }
    let relations: String = answer.relations.iter().map(|it| format!("{}\n", arrow(it))).collect();
    format!("{}\n{relations}", table.finish())
}

fn arrow(relation: &RelationAnswer) -> String {
    let [source, word, target] = [&relation.source, &relation.relation, &relation.target].map(|it| one_line(it, 80));
    format!("{source} —{word}→ {target}")
}
