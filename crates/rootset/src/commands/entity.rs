//! `rootset entity`.

use std::fmt::Write;

use serde_json::{Value, json};

use crate::arguments::EntityCommand;
use crate::exit::Failure;
use crate::render::{self, Table, count, counted, escaped, list, one_line, text};
use crate::session::Session;

pub fn run(command: EntityCommand, session: &Session) -> Result<(), Failure> {
    match command {
        EntityCommand::Show { entity } => {
            let answer = session.call("get_entity", json!({"entity_id": entity}))?;
            session.output.answer(&answer, one)
        }
        EntityCommand::Related(arguments) => {
            let request = json!({"entity_id": arguments.entity, "depth": arguments.depth, "limit": arguments.limit});
            let answer = session.call("get_related", request)?;
            session.output.answer(&answer, related)
        }
    }
}

fn one(entity: &Value) -> String {
    let memories = counted(count(entity, "refcount"), "memory", "memories");
    let mut shown = format!(
        "{}  {}\n",
        render::bold(one_line(text(entity, "name"), usize::MAX)),
        render::dim(format!("{}, {}, {memories}", escaped(text(entity, "type")), text(entity, "origin")))
    );
    let mut line = |text: String| writeln!(shown, "{text}").expect("writing to a string cannot fail");
    line(render::dim(text(entity, "entity_id")));
    let description = text(entity, "description");
    if !description.is_empty() {
        line(escaped(description));
    }
    let relations = list(entity, "relations");
    if !relations.is_empty() {
        line(String::new());
    }
    relations.iter().for_each(|relation| line(arrow(relation)));
    let memories = list(entity, "memory_ids");
    if !memories.is_empty() {
        line(format!("\n{}", render::bold("Memories")));
    }
    memories.iter().filter_map(Value::as_str).for_each(|id| line(id.to_owned()));
    shown
}

fn related(answer: &Value) -> String {
    let entities = list(answer, "entities");
    if entities.is_empty() {
        return "no related entities\n".to_owned();
    }
    let mut table = Table::new(["NAME", "TYPE", "MEMORIES", "DESCRIPTION"]);
    for entity in entities {
        table.row([
            one_line(text(entity, "name"), 60),
            one_line(text(entity, "type"), 20),
            count(entity, "refcount").to_string(),
            one_line(text(entity, "description"), 80),
        ]);
    }
    let relations: Vec<String> = list(answer, "relations").iter().map(|it| format!("{}\n", arrow(it))).collect();
    format!("{}\n{}", table.finish(), relations.concat())
}

fn arrow(relation: &Value) -> String {
    let end = |field: &str| one_line(text(relation, field), 80);
    format!("{} —{}→ {}", end("source"), end("relation"), end("target"))
}
