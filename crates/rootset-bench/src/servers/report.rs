//! Figures for people and for programs.

use std::time::Duration;

use serde::Serialize;

use super::Used;
use crate::latency::Summary;
use crate::table;

/// What a second server should bring, where nothing else is the limit.
const SECOND_SERVER_LEAST: f64 = 1.5;
/// With less than this of the machine's processors idle, they are the limit.
const IDLE_LEAST: f64 = 0.1;

#[derive(Debug, Serialize)]
pub struct Report {
    database: String,
    clients: usize,
    /// Of this machine.
    processors: usize,
    measured: Vec<Measured>,
    /// Requests per second of each measurement by those of the first.
    ratios: Vec<f64>,
}

#[derive(Debug, Serialize)]
pub struct Measured {
    servers: usize,
    seconds: f64,
    per_s: f64,
    add_memory: Summary,
    search_memory: Summary,
    /// Processors that were busy on average.
    busy: Busy,
}

#[derive(Debug, Serialize)]
struct Busy {
    clients: Option<f64>,
    servers: Option<f64>,
    database: Option<f64>,
    /// By whatever else runs on this machine: for figures worth keeping it is near zero.
    others: Option<f64>,
}

impl Busy {
    fn new(used: &Used, seconds: f64) -> Self {
        let busy = |time: Option<Duration>| time.map(|time| time.as_secs_f64() / seconds);
        let (clients, servers, database) = (busy(used.clients), busy(used.servers), busy(used.database));
        let ours: f64 = [clients, servers, database].into_iter().flatten().sum();
        Self { clients, servers, database, others: busy(used.machine).map(|all| (all - ours).max(0.0)) }
    }

    fn all(&self) -> f64 {
        [self.clients, self.servers, self.database, self.others].into_iter().flatten().sum()
    }
}

impl Measured {
    pub fn new(servers: usize, elapsed: Duration, add_memory: Summary, search_memory: Summary, used: &Used) -> Self {
        let seconds = elapsed.as_secs_f64();
        Self {
            servers,
            seconds,
            per_s: (add_memory.count + search_memory.count) as f64 / seconds,
            add_memory,
            search_memory,
            busy: Busy::new(used, seconds),
        }
    }
}

impl Report {
    pub fn new(database: String, clients: usize, measured: Vec<Measured>) -> Self {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let first = measured.first().map_or(1.0, |it| it.per_s);
        let ratios = measured.iter().map(|it| it.per_s / first).collect();
        Self { database, clients, processors, measured, ratios }
    }

    pub fn text(&self) -> String {
        let processors = |busy: Option<f64>| busy.map_or("not known".to_owned(), |busy| format!("{busy:.2}"));
        let rows: Vec<Vec<String>> = (self.measured.iter().zip(&self.ratios))
            .map(|(it, ratio)| {
                vec![
                    it.servers.to_string(),
                    format!("{:.0}", it.per_s),
                    format!("{ratio:.2}"),
                    format!("{:.2}", it.add_memory.p50_ms),
                    format!("{:.2}", it.search_memory.p50_ms),
                    processors(it.busy.clients),
                    processors(it.busy.servers),
                    processors(it.busy.database),
                    processors(it.busy.others),
                ]
            })
            .collect();
        let header = [
            "servers",
            "per s",
            "ratio",
            "add p50 ms",
            "search p50 ms",
            "cpu clients",
            "cpu servers",
            "cpu database",
            "cpu others",
        ];
        let mut lines = vec![
            format!("{}, {} clients, {} processors", self.database, self.clients, self.processors),
            String::new(),
            table::aligned(&header, &rows),
        ];
        lines.extend(self.limit().map(|limit| format!("\n{limit}")));
        lines.join("\n")
    }

    /// What kept a further server from bringing more, where that can be told.
    fn limit(&self) -> Option<String> {
        let (last, ratio) = self.measured.last().zip(self.ratios.last())?;
        if self.measured.len() < 2 || *ratio >= SECOND_SERVER_LEAST {
            return None;
        }
        let idle = 1.0 - last.busy.all() / self.processors as f64;
        Some(if idle < IDLE_LEAST {
            format!("the limit: the processors of this machine, of which {:.0} % are idle", idle.max(0.0) * 100.0)
        } else {
            "the limit is not the processor: waiting for the disk, or for each other".to_owned()
        })
    }
}
