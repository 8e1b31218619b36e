//! Texts that look like notes: unique, short enough to be listed whole, and with names in common, so that memories share
//! entities and relations and deleting one has something to keep.

use rand::Rng;

const SUBJECTS: [&str; 8] = [
    "BillingService",
    "AuthGateway",
    "SearchIndexer",
    "ReportWorker",
    "src/main.rs",
    "RetryPolicy",
    "TKT-100",
    "Falcon",
];
const VERBS: [&str; 4] = ["uses", "depends on", "is part of", "replaced"];

/// One sentence that nobody else writes, because of its tag.
pub fn note(random: &mut impl Rng, tag: &str) -> String {
    let subject = SUBJECTS[random.random_range(0..SUBJECTS.len())];
    let verb = VERBS[random.random_range(0..VERBS.len())];
    let object = SUBJECTS[random.random_range(0..SUBJECTS.len())];
    let version = random.random_range(1..40);
    format!(
        "Note {tag}: {subject} {verb} {object} since release {version}, see Module{version} and \"plan {version}\"."
    )
}
