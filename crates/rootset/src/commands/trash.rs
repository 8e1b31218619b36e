//! `rootset trash`.

use rootset_api::{ListTrash, TrashList};

use super::list::{Page, say_what_is_left};
use crate::commands::list::PageArguments;
use crate::exit::Failure;
use crate::program::Program;
use crate::render::{Column, Table, counted, one_line};

pub fn run(arguments: PageArguments, program: &Program) -> Result<(), Failure> {
    let PageArguments { offset, limit } = arguments;
    let answer = program.run(ListTrash { workspace_id: None, offset, limit })?;
    program.output.answer(&answer, render)?;
    if !program.output.in_json() {
        let total = format!("{} in the trash", counted(answer.total, "item", "items"));
        let page = Page { shown: answer.items.len(), offset: answer.offset, total: answer.total };
        say_what_is_left(program, page, total);
    }
    Ok(())
}

fn render(answer: &TrashList) -> String {
    if answer.items.is_empty() {
        return String::new();
    }
    let mut table = Table::new([
        Column::fixed("WHAT"),
        Column::name("NAME"),
        Column::id("RUN"),
        Column::time("TRASHED").spare(),
        Column::until("UNDO UNTIL"),
        Column::text("TOPIC").spare(),
    ]);
    for item in &answer.items {
        table.row([
            item.kind.clone(),
            one_line(item.name.as_deref().unwrap_or(&item.id), 128),
            item.run_id.to_string(),
            item.trashed_at.to_string(),
            item.undo_until.map(|until| until.to_string()).unwrap_or_default(),
            one_line(item.topic.as_deref().unwrap_or_default(), 80),
        ]);
    }
    table.finish()
}
