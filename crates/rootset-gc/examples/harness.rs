//! A harness of one's own: this crate alone keeps a window of 1,000 tokens, with the harness's way of counting them.

use std::hash::{DefaultHasher, Hash, Hasher};

use rootset_gc::context::{Author, Facts, Focus, NewSegment, Now, Scoring, SegmentType, Target, Window, analyse, plan};
use rootset_model::Timestamp;

const BUDGET_TOKENS: u64 = 1_000;

fn main() {
    let mut window = Window::default();
    let mut texts: Vec<String> = Vec::new();
    for step in 0..60 {
        // Whatever the agent, its user and its tools say.
        let (segment_type, text) = match step {
            0 => (SegmentType::Message, "you mend programs".to_owned()),
            step if step % 7 == 0 => (SegmentType::Decision, format!("rename parse_{step} everywhere")),
            step => (SegmentType::Log, format!("test parse_{} ok\n", step % 10).repeat(12)),
        };
        let now = Now { step, at: Timestamp(step as i64 * 60_000) };
        let author = if step == 0 { Author::System } else { Author::Tool };
        let entered_collection = window.collections();
        let facts = Facts { author, entered_collection, ..Facts::new(segment_type, count_tokens(&text), now) };
        let names: Vec<u64> = text.split_whitespace().filter(|word| word.contains('_')).map(hash).collect();
        window.add(&NewSegment { names: &names, ..NewSegment::new(step, facts) });
        texts.push(text);

        if let Some(excess) = window.tokens().checked_sub(BUDGET_TOKENS) {
            let analysis = analyse(&window, &Focus::default(), now, &Scoring::default());
            for item in plan(&window, &analysis, Target::tokens(excess + BUDGET_TOKENS / 10)).items {
                let first_line = texts[item.segment.0 as usize].lines().next().unwrap_or_default();
                println!("step {step}: stash `{first_line}` ({} tokens): {}", item.tokens, item.reason);
                window.stash(item.segment, now.at);
            }
            window.count_collection();
        }
    }
    println!("{} of {BUDGET_TOKENS} tokens in use", window.tokens());
}

fn count_tokens(text: &str) -> u32 {
    u32::try_from(text.len() / 4).unwrap_or(u32::MAX).max(1)
}

fn hash(name: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    name.hash(&mut hasher);
    hasher.finish()
}
