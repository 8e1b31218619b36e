//! What policies would take on each of the days to come, if nothing were written or used any more.
//!
//! The answer is what [`super::classify`] would say if it were asked day after day about the rows that are left. It is not
//! asked, because that would cost rows times days: a row is judged only on the days on which something changes for it. When
//! others leave, its rank gets better and the newest version lower, so it goes on a day of its own or never: when
//! `keep_within` has passed, or when it is too old. Rows with a time in the future are the exception: each arrives on its
//! day as the newest, pushes all others back by one place, and may bring a newer version.

mod places;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rootset_model::Timestamp;

use super::{Rules, competes, observed_needed_ms};
use crate::heap::{Bucket, Root};
use places::Places;

const DAY_MS: i64 = 24 * 3_600_000;

/// The rows that go up to and including the last day: the day (0 is `now`) and the place in the input, in this order.
pub fn simulate(roots: &[Root], buckets: &[Bucket], now: Timestamp, last_day: u32) -> Vec<(u32, u32)> {
    assert!(u32::try_from(roots.len()).is_ok(), "places are counted in 32 bits");
    let mut of_buckets: Vec<Vec<u32>> = vec![Vec::new(); buckets.len()];
    for (place, root) in roots.iter().enumerate() {
        of_buckets[root.bucket as usize].push(place as u32);
    }
    let mut gone = Vec::new();
    for (bucket, places) in buckets.iter().zip(of_buckets) {
        let rules = Rules::new(&bucket.policy);
        // Nobody can set a negative number of places; like every doubt, it keeps.
        if !rules.policy.is_empty() && rules.policy.min_keep >= 0 {
            let mut simulation = Simulation::new(rules, now);
            simulation.take_rows(roots, &places, last_day);
            simulation.run(&mut gone);
        }
    }
    gone.sort_unstable();
    gone
}

/// One bucket.
struct Simulation<'a> {
    rules: Rules,
    now: Timestamp,
    /// Newest first, ties by id: a row's rank is the number of those before it that are there and compete.
    rows: Vec<Row<'a>>,
    /// Days on which a row arrives or may have to go, in order.
    events: Vec<(u32, u32)>,
    /// Rows that are there and compete.
    ranked: Places,
    /// Versions of the rows that are there, the newest first; a row that went is dropped when it comes up.
    newest: BinaryHeap<(i64, u32)>,
    /// Versions of rows that were judged and stayed, the oldest first: a newer version may yet leave them too far behind.
    stayed: BinaryHeap<Reverse<(i64, u32)>>,
}

struct Row<'a> {
    root: &'a Root,
    /// In the input.
    place: u32,
    stamp: Timestamp,
    state: State,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Awaited,
    There,
    Gone,
}

impl<'a> Simulation<'a> {
    fn new(rules: Rules, now: Timestamp) -> Self {
        Self {
            rules,
            now,
            rows: Vec::new(),
            events: Vec::new(),
            ranked: Places::default(),
            newest: BinaryHeap::new(),
            stayed: BinaryHeap::new(),
        }
    }

    fn take_rows(&mut self, roots: &'a [Root], places: &[u32], last_day: u32) {
        let end = self.time(last_day);
        let rows = places.iter().filter_map(|&place| {
            let root = &roots[place as usize];
            let stamp = self.rules.stamp(root, end)?;
            Some(Row { root, place, stamp, state: State::Awaited })
        });
        self.rows = rows.collect();
        self.rows.sort_unstable_by(|a, b| b.stamp.cmp(&a.stamp).then(a.root.id.cmp(&b.root.id)));
        self.ranked = Places::new(self.rows.len());
        for (number, row) in self.rows.iter().enumerate() {
            let days = self.days_of(row).into_iter().flatten().filter(|day| *day <= u64::from(last_day));
            self.events.extend(days.map(|day| (day as u32, number as u32)));
        }
        self.events.sort_unstable();
        self.events.dedup();
    }

    /// When the row arrives, when `keep_within` no longer keeps it, and when it is too old; in this order.
    fn days_of(&self, row: &Row<'_>) -> [Option<u64>; 3] {
        let since_stamp = |ms: i64| first_day(row.stamp.0.saturating_add(ms).saturating_sub(self.now.0));
        let arrival = since_stamp(0);
        let exposed = since_stamp(self.rules.policy.keep_within_ms).max(arrival);
        let too_old = self.rules.policy.max_age_ms.map(|max_age_ms| {
            let seen = first_day(observed_needed_ms(max_age_ms).saturating_sub(row.root.observed_age_ms));
            // Strictly older.
            since_stamp(max_age_ms.saturating_add(1)).max(seen).max(exposed)
        });
        [Some(arrival), Some(exposed), too_old]
    }

    fn time(&self, day: u32) -> Timestamp {
        self.now.saturating_add_ms(i64::from(day) * DAY_MS)
    }

    fn run(&mut self, gone: &mut Vec<(u32, u32)>) {
        let events = std::mem::take(&mut self.events);
        for of_day in events.chunk_by(|one, other| one.0 == other.0) {
            let day = of_day[0].0;
            let due: Vec<u32> = of_day.iter().map(|(_, row)| *row).collect();
            for row in self.leaving_on(day, due) {
                self.rows[row as usize].state = State::Gone;
                self.ranked.remove(row as usize);
                gone.push((day, self.rows[row as usize].place));
            }
        }
    }

    /// All are judged before the first one leaves.
    fn leaving_on(&mut self, day: u32, mut due: Vec<u32>) -> Vec<u32> {
        let arrived = due.iter().filter(|row| self.arrive(**row)).count();
        // On the first day everybody is due.
        if day > 0 {
            due.extend(self.pushed_back(arrived));
        }
        let newest_version = self.newest_version();
        let left_behind = self.left_behind(newest_version);
        let (mut leaving, staying): (Vec<u32>, Vec<u32>) =
            due.into_iter().partition(|row| self.leaves(*row, day, newest_version));
        // Not those that were left behind and stay all the same: they are due again before they can leave.
        leaving.extend(left_behind.into_iter().filter(|row| self.leaves(*row, day, newest_version)));
        for row in staying {
            self.stayed.extend(self.version_of(row).map(|version| Reverse((version, row))));
        }
        leaving.sort_unstable();
        leaving.dedup();
        leaving
    }

    /// Whether the row arrives now and takes a rank.
    fn arrive(&mut self, number: u32) -> bool {
        let row = &mut self.rows[number as usize];
        if row.state != State::Awaited {
            return false;
        }
        row.state = State::There;
        let (root, is_ranked) = (row.root, competes(row.root));
        if is_ranked {
            self.ranked.add(number as usize);
        }
        self.newest.extend(root.source_version.map(|version| (version, number)));
        is_ranked
    }

    /// Rows that may have lost a place that kept them to so many new ones.
    fn pushed_back(&self, arrived: usize) -> Vec<u32> {
        let limits = [Some(self.rules.policy.min_keep), self.rules.policy.max_count];
        let limits = limits.into_iter().flatten().filter_map(|limit| usize::try_from(limit).ok());
        let from = |limit: usize| (0..arrived).map_while(move |more| self.ranked.at_rank(limit.checked_add(more)?));
        limits.flat_map(from).map(|number| number as u32).collect()
    }

    fn newest_version(&mut self) -> Option<i64> {
        while let Some(&(version, row)) = self.newest.peek() {
            if self.rows[row as usize].state == State::There {
                return Some(version);
            }
            self.newest.pop();
        }
        None
    }

    /// Rows that stayed on an earlier day and are too far behind the newest version now.
    fn left_behind(&mut self, newest_version: Option<i64>) -> Vec<u32> {
        let mut left_behind = Vec::new();
        while let Some(&Reverse((_, row))) = self.stayed.peek()
            && self.rules.is_too_far_behind(self.rows[row as usize].root, newest_version)
        {
            self.stayed.pop();
            left_behind.push(row);
        }
        left_behind
    }

    /// The version by which a row that is there can be too far behind.
    fn version_of(&self, number: u32) -> Option<i64> {
        let row = &self.rows[number as usize];
        row.root.source_version.filter(|_| row.state == State::There && self.rules.policy.max_version_gap.is_some())
    }

    fn leaves(&self, number: u32, day: u32, newest_version: Option<i64>) -> bool {
        let (row, policy) = (&self.rows[number as usize], &self.rules.policy);
        let age_ms = self.time(day).0.saturating_sub(row.stamp.0);
        if row.state != State::There || !competes(row.root) || age_ms < policy.keep_within_ms {
            return false;
        }
        let rank = self.ranked.rank_of(number as usize) as i64;
        let observed_age_ms = row.root.observed_age_ms.saturating_add(i64::from(day) * DAY_MS);
        let is_too_many = policy.max_count.is_some_and(|count| count >= 0 && rank >= count);
        rank >= policy.min_keep
            && (self.rules.is_too_old(age_ms, observed_age_ms)
                || is_too_many
                || self.rules.is_too_far_behind(row.root, newest_version))
    }
}

/// The first day from now on which so much time has passed.
fn first_day(ms: i64) -> u64 {
    ms.max(0).unsigned_abs().div_ceil(DAY_MS.unsigned_abs())
}
