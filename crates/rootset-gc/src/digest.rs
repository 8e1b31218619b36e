//! The fingerprint of a plan: equal plans have equal digests, whatever order they were found in.

use rootset_model::plan::PlanItem;

/// BLAKE3 over the sorted items and the policy they were selected by.
pub fn digest(policy: &str, items: &[PlanItem]) -> [u8; 32] {
    let mut sorted: Vec<&PlanItem> = items.iter().collect();
    sorted.sort();
    let mut hasher = blake3::Hasher::new();
    hasher.update(&(policy.len() as u64).to_le_bytes());
    hasher.update(policy.as_bytes());
    for item in sorted {
        hasher.update(&item.object);
        hasher.update(&item.revision.to_le_bytes());
        hasher.update(&item.version.to_le_bytes());
        for word in [item.kind.as_str(), item.action.as_str(), item.reason.as_str()] {
            hasher.update(&[word.len() as u8]);
            hasher.update(word.as_bytes());
        }
    }
    *hasher.finalize().as_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rootset_model::plan::{Action, ItemKind, Reason};

    fn item(object: u8, version: i64) -> PlanItem {
        PlanItem {
            kind: ItemKind::MEMORY,
            object: [object; 16],
            revision: 0,
            version,
            action: Action::Trash,
            reason: Reason::MATCHED,
        }
    }

    #[test]
    fn order_does_not_matter_but_content_does() {
        assert_eq!(digest("q", &[item(1, 1), item(2, 1)]), digest("q", &[item(2, 1), item(1, 1)]));
        assert_ne!(digest("q", &[item(1, 1)]), digest("q", &[item(1, 2)]));
        assert_ne!(digest("q", &[item(1, 1)]), digest("r", &[item(1, 1)]));
    }
}
