//! What a policy would take on the days to come, as a table.

use std::collections::BTreeMap;
use std::fmt::Write;

use rootset_api::{RetentionSet, RetentionSimulation, SimulatedDay, SimulatedSource};

use super::rules;
use crate::render::{self, Column, Table, counted, escaped, grouped, word};

/// Lines that can be taken in at a glance; with more days than this, several are told in one line.
const LINES_MAX: usize = 31;
/// Days in a line: one, a week, a month, a year.
const STEPS: [u32; 4] = [1, 7, 30, 365];
/// Sources named in a line.
const SOURCES_MAX: usize = 4;

pub fn render(answer: &RetentionSet, simulation: &RetentionSimulation) -> String {
    let mut shown = String::new();
    let mut line = |text: String| writeln!(shown, "{text}").expect("writing to a string cannot fail");
    line(rules(&answer.policy));
    line(format!("{} {}", render::dim("in force now:"), rules(&answer.replaces)));
    let (total, horizon) = (&simulation.total, word(&simulation.horizon));
    if simulation.days.is_empty() {
        line(format!("nothing would expire within {horizon}"));
        return shown;
    }
    line(format!("\n{}", table(&simulation.days)));
    line(render::warning(format!(
        "{} would expire within {horizon} ({:.0} %), {} of them used in the last 30 days",
        counted(total.memories, "memory", "memories"),
        total.fraction * 100.0,
        grouped(total.recently_used)
    )));
    shown
}

fn table(days: &[SimulatedDay]) -> String {
    let lines = |step: u32| days.chunk_by(move |one, other| one.day / step == other.day / step);
    let longest = STEPS[STEPS.len() - 1];
    let step = STEPS.into_iter().find(|step| lines(*step).count() <= LINES_MAX).unwrap_or(longest);
    let mut table = Table::new([
        Column::fixed("DAY"),
        Column::time("DATE"),
        Column::fixed("WOULD GO"),
        Column::fixed("USED LATELY"),
        Column::text("BY SOURCE"),
    ]);
    for days in lines(step) {
        let (first, last) = (&days[0], &days[days.len() - 1]);
        let sum = |number: fn(&SimulatedDay) -> i64| days.iter().map(number).sum::<i64>();
        table.row([
            if first.day == last.day { first.day.to_string() } else { format!("{}-{}", first.day, last.day) },
            first.at.to_string(),
            grouped(sum(|day| day.memories)),
            grouped(sum(|day| day.recently_used)),
            by_source(days),
        ]);
    }
    table.finish()
}

/// `user 12, agent 3`; those that lose most come first.
fn by_source(days: &[SimulatedDay]) -> String {
    let mut sums: BTreeMap<String, i64> = BTreeMap::new();
    for source in days.iter().flat_map(|day| &day.by_source) {
        *sums.entry(name(source)).or_default() += source.memories;
    }
    let mut sums: Vec<(String, i64)> = sums.into_iter().collect();
    sums.sort_by_key(|(_, memories)| std::cmp::Reverse(*memories));
    let is_more = sums.len() > SOURCES_MAX || days.iter().any(|day| day.more_sources.is_some());
    let shown = sums.iter().take(SOURCES_MAX).map(|(name, memories)| format!("{name} {}", grouped(*memories)));
    shown.chain(is_more.then(|| "…".to_owned())).collect::<Vec<_>>().join(", ")
}

fn name(source: &SimulatedSource) -> String {
    match &source.repo {
        Some(repo) => format!("{}/{}", escaped(&source.source), escaped(repo)),
        None => escaped(&source.source),
    }
}

#[cfg(test)]
mod tests {
    use rootset_model::Timestamp;

    use super::*;

    fn day(day: u32, sources: &[(&str, i64)]) -> SimulatedDay {
        let source = |(source, memories): &(&str, i64)| SimulatedSource {
            source: (*source).to_owned(),
            repo: None,
            memories: *memories,
            recently_used: 1,
        };
        SimulatedDay {
            day,
            at: Timestamp(i64::from(day) * 86_400_000),
            memories: sources.iter().map(|(_, memories)| memories).sum(),
            recently_used: sources.len() as i64,
            by_source: sources.iter().map(source).collect(),
            more_sources: None,
        }
    }

    #[test]
    fn few_days_have_a_line_each_and_sources_that_lose_most_come_first() {
        let days =
            [day(0, &[("agent", 3), ("user", 1200)]), day(9, &[("a", 1), ("b", 1), ("c", 1), ("d", 1), ("e", 1)])];
        assert_eq!(
            table(&days),
            "DAY  DATE                  WOULD GO  USED LATELY  BY SOURCE\n\
             0    1970-01-01 00:00 UTC  1,203     2            user 1,200, agent 3\n\
             9    1970-01-10 00:00 UTC  5         5            a 1, b 1, c 1, d 1, …\n"
        );
    }

    #[test]
    fn many_days_are_combined_into_weeks_months_or_years() {
        let shown = |count: u32| {
            let days: Vec<SimulatedDay> = (0..count).map(|number| day(number, &[("user", 2)])).collect();
            let table = table(&days);
            (table.lines().count() - 1, table.lines().nth(1).unwrap_or_default().to_owned())
        };
        assert_eq!(shown(31), (31, "0    1970-01-01 00:00 UTC  2         1            user 2".to_owned()));
        assert_eq!(shown(90), (13, "0-6    1970-01-01 00:00 UTC  14        7            user 14".to_owned()));
        assert_eq!(shown(366), (13, "0-29     1970-01-01 00:00 UTC  60        30           user 60".to_owned()));
        assert_eq!(shown(3_651), (11, "0-364      1970-01-01 00:00 UTC  730       365          user 730".to_owned()));
    }
}
