//! The limits on what one plan may take, so that a wrong policy or a careless query costs a question, not a memory.

use rootset_model::Limits;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How much of one source a plan would take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceShare {
    pub source: String,
    pub in_plan: i64,
    pub total: i64,
}

/// A limit that would refuse the plan, with its numbers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Blocked {
    /// `plan_fraction_max`, or `last_memory`.
    pub limit: String,
    pub source: String,
    pub in_plan: i64,
    pub total: i64,
    /// The limit's value, for `plan_fraction_max`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fraction_max: Option<f64>,
}

/// Which limits a plan made by a policy or a query breaks. Plans of items the caller named break none.
pub fn blocked(shares: &[SourceShare], limits: &Limits) -> Vec<Blocked> {
    let mut found = Vec::new();
    for share in shares.iter().filter(|share| share.in_plan > 0) {
        let mut push = |limit: &str, fraction_max| {
            found.push(Blocked {
                limit: limit.into(),
                source: share.source.clone(),
                in_plan: share.in_plan,
                total: share.total,
                fraction_max,
            });
        };
        let fraction = share.in_plan as f64 / share.total.max(1) as f64;
        if share.in_plan > limits.plan_count_free && fraction > limits.plan_fraction_max {
            push("plan_fraction_max", Some(limits.plan_fraction_max));
        } else if share.in_plan >= share.total {
            push("last_memory", None);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits_hit(in_plan: i64, total: i64) -> Vec<String> {
        let share = SourceShare { source: "user".into(), in_plan, total };
        blocked(&[share], &Limits::default()).into_iter().map(|it| it.limit).collect()
    }

    #[test]
    fn thirty_of_a_hundred_is_too_much_and_three_of_five_is_not() {
        assert_eq!(limits_hit(30, 100), ["plan_fraction_max"]);
        assert_eq!(limits_hit(20, 100), [""; 0]);
        assert_eq!(limits_hit(3, 5), [""; 0]);
        assert_eq!(limits_hit(5, 6), [""; 0]);
        assert_eq!(limits_hit(6, 7), ["plan_fraction_max"]);
    }

    #[test]
    fn the_last_memory_of_a_source_is_never_taken_silently() {
        assert_eq!(limits_hit(1, 1), ["last_memory"]);
        assert_eq!(limits_hit(0, 0), [""; 0]);
    }
}
