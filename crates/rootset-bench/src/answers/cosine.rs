//! What an embedder finds without anything else: turns by the cosine of their vector to the question's, of each turn only what
//! the model reads at once, as simple programs do it.

use rootset_provider::Embedder;

use super::conversation::Conversation;
use super::metrics::{DEEPEST, Scores};

/// Texts handed over together.
const TEXTS_AT_ONCE: usize = 64;

pub fn measure(embedder: &dyn Embedder, conversations: &[Conversation]) -> anyhow::Result<Scores> {
    let mut scores = Scores::default();
    for conversation in conversations {
        let said: Vec<_> = conversation.turns.iter().filter(|turn| !turn.text.is_empty()).collect();
        let turns = embed(embedder, said.iter().map(|turn| turn.text.as_str()))?;
        let asked: Vec<_> = conversation.questions.iter().filter(|it| !it.evidence.is_empty()).collect();
        let questions = embed(embedder, asked.iter().map(|it| it.question.as_str()))?;
        for (question, vector) in asked.into_iter().zip(&questions) {
            let mut ranked: Vec<(f32, &str)> =
                said.iter().zip(&turns).map(|(turn, of_turn)| (dot(of_turn, vector), turn.id.as_str())).collect();
            // Stable: of equals, the earlier turn comes first.
            ranked.sort_by(|a, b| b.0.total_cmp(&a.0));
            let ids: Vec<&str> = ranked.into_iter().take(DEEPEST).map(|(_, id)| id).collect();
            scores.add(question, &ids);
        }
    }
    Ok(scores)
}

fn embed<'a>(embedder: &dyn Embedder, texts: impl Iterator<Item = &'a str>) -> anyhow::Result<Vec<Vec<f32>>> {
    let texts: Vec<&str> = texts.collect();
    let mut vectors = Vec::with_capacity(texts.len());
    for texts in texts.chunks(TEXTS_AT_ONCE) {
        vectors.extend(embedder.embed(texts)?);
    }
    Ok(vectors)
}

fn dot(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}
