//! The live context as the message list of an API.

use rootset_api::RenderFormat;
use rootset_gc::context::{Population, SegmentIndex, SegmentState};
use rootset_messages::{Format, Piece, Rendered, render};
use rootset_store::SegmentText;
use serde_json::Value;

use super::answers::placeholder_line;
use super::live::LiveSession;

pub fn message_format(format: RenderFormat) -> Option<Format> {
    match format {
        RenderFormat::Segments => None,
        RenderFormat::Anthropic => Some(Format::Anthropic),
        RenderFormat::OpenAi => Some(Format::OpenAi),
    }
}

/// A run of stashed segments becomes one line.
enum Part<'a> {
    Segment(SegmentIndex, &'a SegmentText, Option<Value>),
    Line(String),
}

/// `texts` of the active segments, in the order of the window.
pub fn render_messages(live: &LiveSession, texts: &[SegmentText], format: Format, placeholders: bool) -> Rendered {
    let mut parts: Vec<Part<'_>> = Vec::new();
    let mut texts = texts.iter();
    let mut stashed: Vec<SegmentIndex> = Vec::new();
    let population = if placeholders { Population::ActiveAndStashed } else { Population::Active };
    for segment in live.in_order(population) {
        if live.window().graph().state(segment) != SegmentState::Active {
            stashed.push(segment);
            continue;
        }
        if !stashed.is_empty() {
            parts.push(Part::Line(placeholder_line(live, &stashed)));
            stashed.clear();
        }
        let Some(text) = texts.next() else { break };
        let raw = text.raw.as_deref().and_then(|raw| serde_json::from_str(raw).ok());
        parts.push(Part::Segment(segment, text, raw));
    }
    let pieces: Vec<Piece<'_>> = parts
        .iter()
        .map(|part| match part {
            Part::Line(text) => Piece::Placeholder { text },
            Part::Segment(_, _, Some(raw)) => Piece::Raw(raw),
            Part::Segment(segment, text, None) => {
                Piece::Text { role: live.row(*segment).role.as_deref().unwrap_or("user"), text: &text.text }
            }
        })
        .collect();
    render(format, &pieces)
}
