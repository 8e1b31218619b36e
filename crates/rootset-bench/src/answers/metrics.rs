//! R@k and nDCG@10 of ranked turns against the evidence, averaged over questions.

use std::collections::{BTreeMap, HashSet};

use serde::Serialize;

use super::conversation::Question;

/// Depths of recall; the last is how many results are asked for.
pub const RANKS: [usize; 3] = [5, 10, 20];
const GAIN_DEPTH: usize = 10;
/// As deep as anything is looked for: whether the newer of two answers stands above the older.
pub const DEEPEST: usize = 50;

/// Sums over questions; means come out of [`Scores::summary`].
#[derive(Debug, Default)]
pub struct Scores {
    overall: Sums,
    by_category: BTreeMap<String, Sums>,
    newer_first: usize,
    updates: usize,
    silence: Silence,
}

/// How often an answer said that nothing is relevant, where there was an answer and where there was none.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Silence {
    pub answerable: usize,
    pub silent_on_answerable: usize,
    pub unanswerable: usize,
    pub silent_on_unanswerable: usize,
}

#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    recall: [f64; RANKS.len()],
    gain: f64,
    questions: usize,
}

#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    #[serde(flatten)]
    pub overall: Means,
    pub by_category: BTreeMap<String, Means>,
}

#[derive(Clone, Copy, Debug, Serialize)]
pub struct Means {
    pub r_at_5: f64,
    pub r_at_10: f64,
    pub r_at_20: f64,
    pub ndcg_at_10: f64,
    pub questions: usize,
}

impl Scores {
    pub fn add(&mut self, question: &Question, ranked: &[&str]) {
        let evidence: HashSet<&str> = question.evidence.iter().map(String::as_str).collect();
        let recall = RANKS.map(|depth| recall(&evidence, ranked, depth));
        let gain = gain(&evidence, ranked);
        let category = self.by_category.entry(question.category.clone()).or_default();
        for sums in [&mut self.overall, category] {
            sums.recall.iter_mut().zip(recall).for_each(|(sum, value)| *sum += value);
            sums.gain += gain;
            sums.questions += 1;
        }
        if let Some((old, new)) = &question.update {
            let best =
                |turns: &[String]| ranked.iter().take(DEEPEST).position(|turn| turns.iter().any(|other| other == turn));
            let is_newer_first = best(new).is_some_and(|new| best(old).is_none_or(|old| new < old));
            self.updates += 1;
            self.newer_first += usize::from(is_newer_first);
        }
    }

    /// Questions whose newer answer came first, and questions with an older and a newer one.
    pub fn newer_first(&self) -> (usize, usize) {
        (self.newer_first, self.updates)
    }

    pub fn note_silence(&mut self, is_answerable: bool, is_silent: bool) {
        let Silence { answerable, silent_on_answerable, unanswerable, silent_on_unanswerable } = &mut self.silence;
        let (asked, silent) =
            if is_answerable { (answerable, silent_on_answerable) } else { (unanswerable, silent_on_unanswerable) };
        *asked += 1;
        *silent += usize::from(is_silent);
    }

    /// `None` where nobody was asked what cannot be answered.
    pub fn silence(&self) -> Option<Silence> {
        (self.silence.unanswerable > 0).then_some(self.silence)
    }

    pub fn questions(&self) -> usize {
        self.overall.questions
    }

    pub fn summary(&self) -> Summary {
        let by_category = self.by_category.iter().map(|(name, sums)| (name.clone(), sums.means())).collect();
        Summary { overall: self.overall.means(), by_category }
    }
}

impl Sums {
    fn means(&self) -> Means {
        let count = self.questions.max(1) as f64;
        let [r_at_5, r_at_10, r_at_20] = self.recall.map(|sum| sum / count);
        Means { r_at_5, r_at_10, r_at_20, ndcg_at_10: self.gain / count, questions: self.questions }
    }
}

fn recall(evidence: &HashSet<&str>, ranked: &[&str], depth: usize) -> f64 {
    let found = ranked.iter().take(depth).filter(|turn| evidence.contains(**turn)).count();
    found as f64 / evidence.len() as f64
}

/// A turn of the evidence is worth 1 / log2(place + 1); 1 when all of it, or ten, come first.
fn gain(evidence: &HashSet<&str>, ranked: &[&str]) -> f64 {
    let at = |place: usize| 1.0 / (place as f64 + 2.0).log2();
    let places = ranked.iter().take(GAIN_DEPTH).enumerate().filter(|(_, turn)| evidence.contains(**turn));
    let found: f64 = places.map(|(place, _)| at(place)).sum();
    let best: f64 = (0..evidence.len().min(GAIN_DEPTH)).map(at).sum();
    found / best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_of_one_question_are_those_worked_out_by_hand() {
        let question = Question {
            question: String::new(),
            category: "temporal".into(),
            evidence: vec!["a".into(), "b".into(), "missing".into(), "b".into()],
            update: Some((vec!["b".into()], vec!["3".into(), "missing".into()])),
        };
        let ranked = ["a", "1", "2", "3", "4", "5", "6", "b"];
        let mut scores = Scores::default();
        scores.add(&question, &ranked);
        assert_eq!(scores.newer_first(), (1, 1));
        let means = scores.summary().by_category["temporal"];
        assert_eq!(means.questions, 1);
        assert!((means.r_at_5 - 1.0 / 3.0).abs() < 1e-12);
        assert!((means.r_at_10 - 2.0 / 3.0).abs() < 1e-12);
        let best = 1.0 + 1.0 / 3f64.log2() + 1.0 / 4f64.log2();
        assert!((means.ndcg_at_10 - (1.0 + 1.0 / 9f64.log2()) / best).abs() < 1e-12);
    }
}
