//! Words by which somebody asks at length: `could you please make sure that you no longer keep …`. None of them says what is
//! meant.
//!
//! Lists are data; what follows from them is decided by `request`. Not here: how short requests begin ([`super::noise`]).

/// Politeness, reasons and detours.
#[rustfmt::skip]
const WRAPPING: &[&str] = &[
    "able", "agreed", "ahead", "anywhere", "appreciate", "appreciated", "ask", "asked", "asking", "assistant", "bother",
    "certain", "comes", "comfortable", "completely", "convenient", "dear", "decided", "delighted", "earlier", "else",
    "ensure", "entirely", "ever", "existed", "existing", "far", "feel", "free", "fully", "glad", "going", "grateful",
    "great", "happy", "helpful", "hold", "holding", "hope", "hoping", "impossible", "kindly", "like", "ll", "longer",
    "make", "making", "mean", "mind", "much", "necessary", "need", "needed", "nice", "nothing", "off", "once", "per",
    "permanently", "personal", "possible", "possibly", "prefer", "quickly", "rather", "really", "requested", "see",
    "simply", "so", "somehow", "soon", "sorry", "stop", "sure", "take", "thank", "thanks", "track", "tried", "try", "ve",
    "want", "wanted", "whenever", "whether", "wish", "wonder", "wondered", "wonderful", "wondering", "worry", "yesterday",
];

/// Nouns of such requests. Beside a name they say nothing; without one they may be what is meant.
const DETOURS: &[&str] =
    &["advance", "article", "chance", "effort", "favor", "favour", "go", "lot", "lots", "request", "trouble"];

/// What becomes of a memory, in any form.
#[rustfmt::skip]
const BECOMING: &[&str] = &[
    "cleared", "deleted", "deleting", "deletion", "discarded", "dropped", "dropping", "erased", "erasing", "erasure",
    "existed", "forgets", "forgetting", "forgot", "forgotten", "gone", "held", "keeping", "keeps", "kept",
    "purged", "purging", "recalled", "recorded", "redacted", "remain", "remaining", "remains", "remembered", "remembering",
    "removal", "removed", "removing", "retain", "retained", "saved", "saving", "scrubbed", "stored", "storing", "vanish",
    "wiped", "wiping",
];

/// Where memories are, behind what is meant.
#[rustfmt::skip]
const KEEPERS: &[&str] = &[
    "database", "files", "history", "list", "memory", "memories", "mind", "notes", "profile", "record", "records", "storage", "store",
    "system",
];

/// Laws that give somebody the right to be forgotten: no names of a request.
const LAWS: &[&str] = &["ccpa", "dsgvo", "gdpr", "lgpd", "rgpd"];

/// How somebody came to know what is to go: `what I told you about …`.
const TOLD: &[&str] = &["discussed", "learned", "learnt", "said", "told"];

pub(super) fn is_told(folded: &str) -> bool {
    TOLD.contains(&folded)
}

/// Whether a word only wraps a request.
pub(super) fn is_wrapping(folded: &str) -> bool {
    WRAPPING.binary_search(&folded).is_ok() || is_becoming(folded) || LAWS.contains(&folded)
}

/// Whether a word says what is to become of what is meant: `… should be removed`.
pub(super) fn is_becoming(folded: &str) -> bool {
    BECOMING.binary_search(&folded).is_ok()
}

pub(super) fn is_detour(folded: &str) -> bool {
    DETOURS.contains(&folded)
}

pub(super) fn is_keeper(folded: &str) -> bool {
    KEEPERS.contains(&folded)
}

pub(super) fn is_law(folded: &str) -> bool {
    LAWS.contains(&folded)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_sorted_so_that_lookups_find_everything() {
        for list in [WRAPPING, BECOMING] {
            assert!(list.is_sorted(), "{:?}", list.windows(2).find(|pair| pair[0] > pair[1]));
        }
    }
}
