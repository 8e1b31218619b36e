//! Settings of the collector: for everything, for classes of workspaces, and for single workspaces.

use std::collections::BTreeMap;

use rootset_model::RetentionPolicy;
use rootset_model::names::meant_workspace;
use rootset_service::{DrainMode, GcOverrides, GcSettings, ServiceError, chosen_strategies};

use super::{Reader, check, retention};

/// Under the names that workspaces have today. What is said under today's name comes before what is said under an old one,
/// which stands before it in the alphabet.
pub(super) fn meant_workspaces<T>(named: BTreeMap<String, T>) -> BTreeMap<String, T> {
    named.into_iter().map(|(name, settings)| (meant_workspace(&name).to_owned(), settings)).collect()
}

impl Reader {
    pub(super) fn collector(&self, defaults: &GcSettings) -> Result<GcSettings, ServiceError> {
        let strategies = self.value("gc.strategies").and_then(|value| check::strategies(&value));
        Ok(GcSettings {
            enabled: self.switch("gc.enabled").unwrap_or(defaults.enabled),
            interval_ms: self.duration_ms("gc.interval", defaults.interval_ms)?,
            retention: self.retention("gc.retention")?.unwrap_or(defaults.retention),
            auto_delete: self.switch("gc.auto_delete").unwrap_or(defaults.auto_delete),
            defrag_threshold: self.number("gc.defrag_threshold").unwrap_or(defaults.defrag_threshold),
            auto_defrag: self.switch("gc.auto_defrag").unwrap_or(defaults.auto_defrag),
            purge_trash: self.switch("gc.purge_trash").unwrap_or(defaults.purge_trash),
            time_limit_ms: self.count("gc.time_limit_ms").or(defaults.time_limit_ms),
            drain: self.drain("gc.drain").unwrap_or(defaults.drain),
            strategies: strategies.map_or_else(|| defaults.strategies.clone(), |chosen| chosen_strategies(&chosen)),
            classes: self.overrides("gc.classes")?,
            workspaces: meant_workspaces(self.overrides("gc.workspaces")?),
        })
    }

    /// What a section says of each name in it.
    fn overrides(&self, section: &str) -> Result<BTreeMap<String, GcOverrides>, ServiceError> {
        let of_name = |name: String| {
            let key = |key: &str| format!("{section}.{name}.{key}");
            let overrides = GcOverrides {
                retention: self.retention(&key("retention"))?,
                auto_delete: self.switch(&key("auto_delete")),
                drain: self.drain(&key("drain")),
                quota_memories: self.count(&key("quota.memories")),
                quota_bytes: self.count(&key("quota.bytes")),
            };
            Ok((name, overrides))
        };
        self.names(section).into_iter().map(of_name).collect()
    }

    /// The names in a section: workspaces or classes with settings of their own.
    pub(super) fn names(&self, section: &str) -> Vec<String> {
        self.table(section).map(|table| table.into_keys().collect()).unwrap_or_default()
    }

    fn drain(&self, key: &str) -> Option<DrainMode> {
        DrainMode::from_word(&self.text(key)?)
    }

    /// A policy replaces the one it overrides as a whole; an empty table is a policy that keeps everything.
    fn retention(&self, section: &str) -> Result<Option<RetentionPolicy>, ServiceError> {
        self.table(section).map(|fields| retention::policy(section, &fields)).transpose()
    }
}
