use super::cut::{at_the_end, in_the_middle, into_lines};
use super::*;

fn shown(table: Table, width: usize) -> Vec<String> {
    let text = anstream::adapter::strip_str(&table.for_width(Some(width))).to_string();
    text.lines().map(str::to_owned).collect()
}

#[test]
fn names_lose_their_middle_and_texts_end_between_words() {
    assert_eq!(in_the_middle("falcon-deploy-pipeline", 22), "falcon-deploy-pipeline");
    assert_eq!(in_the_middle("falcon-deploy-pipeline", 13), "falcon…peline");
    assert_eq!(at_the_end("Falcon deploys with a pipeline", 20), "Falcon deploys with…");
    assert_eq!(at_the_end("Falcon deploys with a pipeline", 17), "Falcon deploys…");
    assert_eq!(at_the_end("Incomprehensibilities", 8), "Incompr…");
    assert_eq!(in_the_middle("日本語のとても長い名前", 9), "日本…名前");
}

#[test]
fn long_words_are_broken_behind_a_mark_and_short_ones_never() {
    assert_eq!(into_lines("one two three", 8), ["one two", "three"]);
    assert_eq!(into_lines("see /home/alice/projects/falcon", 16), ["see", "/home/alice/", "projects/falcon"]);
    assert_eq!(into_lines("", 8), Vec::<String>::new());
    assert_eq!(into_lines("日", 1), ["日"]);
}

#[test]
fn ids_keep_as_much_as_tells_them_apart() {
    let ids = ["019aa1b2-3c4d-7000-8000-000000000001", "019aa1b2-3c4d-7abc-8000-000000000002"];
    let mut table = Table::new([Column::id("RUN")]);
    ids.iter().for_each(|id| table.row([(*id).to_owned()]));
    assert_eq!(shown(table, 80), ["RUN", "019aa1b2-3c4d-70", "019aa1b2-3c4d-7a"]);
}

#[test]
fn spare_columns_go_before_names_become_illegible() {
    let columns = [Column::name("NAME"), Column::fixed("SIZE").spare(), Column::fixed("STATE")];
    let wide = |cells: [&str; 3]| {
        let mut table = Table::new(columns);
        table.row(cells.map(str::to_owned));
        table
    };
    let long = "n".repeat(40);
    let state = "s".repeat(44);
    assert_eq!(shown(wide([&long, "11 MB", &state]), 60)[0], "NAME            STATE");
    assert_eq!(shown(wide([&long, "", "ok"]), 60)[0], format!("NAME{}STATE", " ".repeat(38)));
    assert_eq!(shown(wide(["falcon", "11 MB", "ok"]), 60)[0], "NAME    SIZE   STATE");
}

#[test]
fn any_table_fits_from_sixty_columns_and_a_pipe_cuts_nothing() {
    let text = "Falcon deploys with a pipeline since the script was removed, and nobody may run it by hand";
    let id = "019aa1b2-3c4d-7000-8000-000000000001";
    let columns = [
        Column::fixed("WHAT"),
        Column::name("NAME"),
        Column::id("RUN"),
        Column::time("AT").spare(),
        Column::until("UNDO UNTIL"),
        Column::text("TOPIC"),
    ];
    let full = || {
        let mut table = Table::new(columns);
        let time = "2026-11-15T07:26:59.123Z";
        table.row(["memory", &"falcon-".repeat(18), id, time, time, text].map(str::to_owned));
        table
    };
    for width in 60..200 {
        for line in shown(full(), width) {
            assert!(width_of(&line) <= width, "{width}: {line}");
        }
    }
    assert!(full().for_width(None).contains(id) && full().for_width(None).contains(text));
}
