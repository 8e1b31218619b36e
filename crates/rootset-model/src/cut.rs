//! What of one content goes while the rest of it stays: places in it, never its text, so that a plan may hold them.
//!
//! Not here: which sentences those are (`matching` of `rootset-text`).

use serde::{Deserialize, Serialize};

use crate::Content;
use crate::content::topic_of;

/// The parts of one content that go: bytes of the context, and entries of its lists.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Cut {
    pub context: Vec<(usize, usize)>,
    pub decisions: Vec<usize>,
    pub rationale: Vec<usize>,
}

impl Cut {
    /// The content without them; `None` where nothing would be left of the context, or where a range does not fit.
    pub fn apply(&self, content: &Content) -> Option<Content> {
        let mut context = String::new();
        let mut position = 0;
        for &(start, end) in &self.context {
            context.push_str(content.context.get(position..start)?);
            position = end;
        }
        context.push_str(content.context.get(position..)?);
        let context = context.trim().to_owned();
        let kept = |list: &[String], gone: &[usize]| {
            list.iter().enumerate().filter(|(place, _)| !gone.contains(place)).map(|(_, text)| text.clone()).collect()
        };
        let is_topic_made = content.topic == topic_of(&content.context);
        let topic = if is_topic_made { topic_of(&context) } else { content.topic.clone() };
        let decisions = kept(&content.decisions, &self.decisions);
        let rationale = kept(&content.rationale, &self.rationale);
        (!context.is_empty()).then_some(Content { topic, context, decisions, rationale })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn content(context: &str) -> Content {
        let list = vec!["one".to_owned(), "two".to_owned()];
        Content { topic: topic_of(context), context: context.to_owned(), decisions: list.clone(), rationale: list }
    }

    #[test]
    fn what_is_cut_goes_and_the_topic_made_from_it_goes_with_it() {
        let before = content("Alice likes tea. Bob likes coffee. Carol is away.");
        let cut = Cut { context: vec![(0, 17), (35, 49)], decisions: vec![0], rationale: vec![] };
        let after = cut.apply(&before).unwrap();
        assert_eq!((after.topic.as_str(), after.context.as_str()), ("Bob likes coffee.", "Bob likes coffee."));
        assert_eq!((after.decisions, after.rationale.len()), (vec!["two".to_owned()], 2));
        let given = Content { topic: "Drinks".to_owned(), ..before };
        assert_eq!(cut.apply(&given).unwrap().topic, "Drinks");
    }

    #[test]
    fn a_cut_that_leaves_nothing_or_does_not_fit_gives_nothing() {
        let before = content("Alice likes té.");
        for range in [(0, 16), (0, 99), (14, 15)] {
            assert_eq!(Cut { context: vec![range], ..Cut::default() }.apply(&before), None, "{range:?}");
        }
    }
}
