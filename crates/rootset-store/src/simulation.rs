//! What policies of retention would take on the days to come, with one of them replaced for the sake of the question.
//! Nothing is stored: the policy is put in its place in memory only.

use rootset_gc::heap::Bucket;
use rootset_gc::retention::simulate;
use rootset_model::{RetentionPolicy, Timestamp};

use crate::error::StoreError;
use crate::garbage::{self, Extent, Findings};
use crate::{RetentionTarget, Store, Workspace, retention};

#[derive(Clone, Debug)]
pub struct RetentionSimulation {
    /// The policy that would be replaced.
    pub replaced: RetentionPolicy,
    /// What would expire now.
    pub now: Findings,
    pub buckets: Vec<Bucket>,
    /// By day, then by bucket.
    pub losses: Vec<Loss>,
}

/// What a bucket would lose on a day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Loss {
    /// Days from now; 0 is now.
    pub day: u32,
    /// Place in the buckets.
    pub bucket: u32,
    pub memories: i64,
    /// Those used lately, counted back from now: nobody knows what will be used until then.
    pub recently_used: i64,
}

impl Store {
    /// The days from now to the last one, under all policies of the workspace with the target's replaced.
    pub fn simulate_retention(
        &self,
        workspace: &Workspace,
        target: &RetentionTarget,
        policy: RetentionPolicy,
        configured: RetentionPolicy,
        last_day: u32,
        now: Timestamp,
    ) -> Result<RetentionSimulation, StoreError> {
        let (replaced, roots, buckets) = self.read(workspace, |tx| {
            let mut policies = retention::load(tx, workspace.key, configured)?;
            let replaced = retention::replace(&mut policies, target, policy);
            let (roots, buckets) = garbage::read_roots(tx, workspace.key, &policies, Extent::Every, now)?;
            Ok((replaced, roots, buckets))
        })?;
        let mut losses: Vec<Loss> = simulate(&roots, &buckets, now, last_day)
            .into_iter()
            .map(|(day, place)| {
                let root = &roots[place as usize];
                let recently_used = i64::from(garbage::was_used_lately(root, now));
                Loss { day, bucket: root.bucket, memories: 1, recently_used }
            })
            .collect();
        losses.sort_unstable_by_key(|loss| (loss.day, loss.bucket));
        losses.dedup_by(|loss, sum| {
            let is_same = (loss.day, loss.bucket) == (sum.day, sum.bucket);
            if is_same {
                sum.memories += loss.memories;
                sum.recently_used += loss.recently_used;
            }
            is_same
        });
        let on_day_0 = || losses.iter().take_while(|loss| loss.day == 0);
        let now = Findings {
            memories: roots.len() as i64,
            expired: on_day_0().map(|loss| loss.memories).sum(),
            recently_used: on_day_0().map(|loss| loss.recently_used).sum(),
        };
        Ok(RetentionSimulation { replaced, now, buckets, losses })
    }
}
