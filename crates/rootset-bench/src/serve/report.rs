//! Figures for people and for programs, with the wanted ones beside them.

use serde::Serialize;

use super::http::HttpFigures;
use super::mcp::McpFigures;
use crate::latency::Summary;
use crate::table;

#[derive(Debug, Serialize)]
pub struct Report {
    memories: usize,
    connections: usize,
    /// `get_memory` without any front end.
    operation: Summary,
    http: HttpFigures,
    /// None where the binary has no `mcp`.
    mcp: Option<McpFigures>,
    wanted: Vec<Wanted>,
}

#[derive(Debug, Serialize)]
struct Wanted {
    figure: &'static str,
    measured: f64,
    limit: f64,
    /// Whether the limit is a least rather than a most.
    is_least: bool,
    ok: bool,
}

impl Wanted {
    fn at_most(figure: &'static str, measured: f64, limit: f64) -> Self {
        Self { figure, measured, limit, is_least: false, ok: measured <= limit }
    }

    fn at_least(figure: &'static str, measured: f64, limit: f64) -> Self {
        Self { figure, measured, limit, is_least: true, ok: measured >= limit }
    }
}

impl Report {
    pub fn new(
        memories: usize,
        connections: usize,
        operation: Summary,
        http: HttpFigures,
        mcp: Option<McpFigures>,
    ) -> Self {
        let mut wanted = vec![
            Wanted::at_least("HTTP get_memory per s", http.per_s, 5_000.0),
            Wanted::at_most("HTTP get_memory p99 ms", http.latency.p99_ms, 10.0),
        ];
        if let Some(kib) = http.idle_memory_kib {
            wanted.push(Wanted::at_most("idle memory of the server MiB", kib as f64 / 1024.0, 40.0));
        }
        if let Some(mcp) = &mcp {
            let overhead_ms = mcp.call.p50_ms - operation.p50_ms;
            wanted.push(Wanted::at_most("MCP tool call above the operation, p50 ms", overhead_ms, 1.0));
            wanted.push(Wanted::at_most("MCP start to first answer ms", mcp.first_answer_ms, 100.0));
        }
        Self { memories, connections, operation, http, mcp, wanted }
    }

    pub fn text(&self) -> String {
        let mut rows = vec![row("get_memory alone", &self.operation), row("over HTTP", &self.http.latency)];
        rows.extend(self.mcp.as_ref().map(|mcp| row("over MCP", &mcp.call)));
        let kib =
            |kib: Option<u64>| kib.map_or("not known".to_owned(), |kib| format!("{:.1} MiB", kib as f64 / 1024.0));
        let lines = [
            format!("{} memories, {} connections", self.memories, self.connections),
            String::new(),
            table::aligned(&["", "calls", "p50 ms", "p90 ms", "p99 ms", "max ms"], &rows),
            String::new(),
            format!("HTTP: {:.0} get_memory/s over all connections", self.http.per_s),
            format!("HTTP: {:.1} ms from start to the first answer", self.http.first_answer_ms),
            format!(
                "memory of the server: {} idle, {} after the load",
                kib(self.http.idle_memory_kib),
                kib(self.http.loaded_memory_kib)
            ),
            match &self.mcp {
                Some(mcp) => format!("MCP: {:.1} ms from start to the first answer", mcp.first_answer_ms),
                None => "SKIPPED: MCP; this binary has no `rootset mcp`".to_owned(),
            },
            String::new(),
            self.wanted_table(),
        ];
        lines.join("\n")
    }

    fn wanted_table(&self) -> String {
        let rows: Vec<Vec<String>> = self
            .wanted
            .iter()
            .map(|it| {
                let sign = if it.is_least { "≥" } else { "≤" };
                let verdict = if it.ok { "ok" } else { "MISSED" };
                vec![it.figure.into(), format!("{:.3}", it.measured), format!("{sign} {}", it.limit), verdict.into()]
            })
            .collect();
        table::aligned(&["figure", "measured", "wanted", ""], &rows)
    }
}

fn row(name: &str, summary: &Summary) -> Vec<String> {
    let ms = [summary.p50_ms, summary.p90_ms, summary.p99_ms, summary.max_ms].map(|ms| format!("{ms:.3}"));
    let mut row = vec![name.to_owned(), summary.count.to_string()];
    row.extend(ms);
    row
}
