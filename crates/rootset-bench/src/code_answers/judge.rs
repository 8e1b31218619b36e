//! Compares answers with the truth, and remembers what was missed and what was wrong.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::Report;
use super::truth::{Place, Truth};

/// A caller as answered.
pub struct Answered {
    pub file: String,
    pub line: i64,
    pub is_certain: bool,
    pub reason: String,
}

/// Calls that an answer counts without listing them.
#[derive(Clone, Copy)]
pub struct Left {
    pub unresolved: usize,
    pub elsewhere: usize,
}

/// How many of how many.
#[derive(Clone, Copy, Debug, Default)]
struct Share {
    right: usize,
    all: usize,
}

impl Share {
    fn add(&mut self, is_right: bool) {
        self.all += 1;
        self.right += usize::from(is_right);
    }

    /// Of nothing, everything is right.
    fn value(self) -> f64 {
        if self.all == 0 { 1.0 } else { self.right as f64 / self.all as f64 }
    }
}

#[derive(Default)]
pub struct Judge {
    found: Share,
    found_certain: Share,
    certain: Share,
    possible: Share,
    unjudged: usize,
    elsewhere: usize,
    dropped: usize,
    list: String,
}

/// The reason of an answer that names an override of what is called.
const BY_OVERRIDE: &str = "override";

impl Judge {
    pub fn unknown(&mut self, target: &Place, sites: &[usize], truth: &Truth) {
        for site in sites {
            self.found.add(false);
            self.found_certain.add(false);
            self.dropped += 1;
            let site = truth.site(*site);
            let _ = writeln!(
                self.list,
                "no symbol\t{}:{}\t{}\t-> {}:{}",
                site.file, site.line, site.name, target.file, target.line
            );
        }
    }

    /// The answer about one symbol, of which `sites` were drawn.
    pub fn answer(&mut self, name: &str, sites: &[usize], truth: &Truth, answered: &[Answered], left: Left) {
        let mut missed: usize = 0;
        for site in sites {
            let site = truth.site(*site);
            let here = || answered.iter().filter(|it| it.file == site.file && it.line == site.line);
            let is_found = here().next().is_some();
            self.found.add(is_found);
            self.found_certain.add(here().any(|it| it.is_certain));
            if !is_found {
                missed += 1;
                let _ = writeln!(self.list, "missed\t{}:{}\t{}\t-> {name}", site.file, site.line, site.name);
            }
        }
        let misplaced = missed.saturating_sub(left.unresolved);
        self.elsewhere += misplaced.min(left.elsewhere);
        self.dropped += misplaced.saturating_sub(left.elsewhere);
        let mut seen = BTreeSet::new();
        for it in answered.iter().filter(|it| seen.insert((&it.file, it.line, it.is_certain))) {
            let leads_to_it = |place: &Place| truth.name_of(place) == Some(name) || truth.makes(place, name);
            let is_right = truth.at(&it.file, it.line).any(|site| site.targets.iter().any(leads_to_it))
                || !it.is_certain
                    && it.reason.contains(BY_OVERRIDE)
                    && truth.at(&it.file, it.line).any(|site| {
                        site.targets.iter().filter_map(|place| truth.name_of(place)).any(|it| last(it) == last(name))
                    });
            // Of a line in which the truth knows no call of that name, it says nothing.
            let is_same_name = |site: &super::truth::Site| site.name == last(name) || makers(name, &site.name);
            if !is_right && !truth.at(&it.file, it.line).any(is_same_name) {
                self.unjudged += 1;
                continue;
            }
            if it.is_certain {
                self.certain.add(is_right)
            } else {
                self.possible.add(is_right)
            }
            if !is_right {
                let kind = if it.is_certain { "wrong" } else { "not possible" };
                let _ = writeln!(self.list, "{kind}\t{}:{}\t-> {name}\t{}", it.file, it.line, it.reason);
            }
        }
    }

    pub fn fill(&self, report: &mut Report) {
        report.recall = self.found.value();
        report.recall_certain = self.found_certain.value();
        (report.certain, report.certain_precision) = (self.certain.all, self.certain.value());
        (report.possible, report.possible_precision) = (self.possible.all, self.possible.value());
        (report.unjudged, report.elsewhere, report.dropped) = (self.unjudged, self.elsewhere, self.dropped);
    }

    pub fn list(&self) -> &str {
        &self.list
    }
}

/// Whether a call of `written` makes a value of the type whose constructor has this name.
fn makers(constructor: &str, written: &str) -> bool {
    let mut parts = constructor.rsplit(['.', ':', '#']).filter(|part| !part.is_empty());
    parts.nth(1) == Some(written)
}

fn last(name: &str) -> &str {
    name.rsplit(['.', ':', '#']).next().unwrap_or(name)
}
