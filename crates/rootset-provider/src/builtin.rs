//! The rules of rootset-text behind the extractor's trait: no model, no network, no settings.

use rootset_model::{Content, Extraction};
use rootset_text::extract;

use crate::{Extractor, ProviderError};

#[derive(Clone, Copy, Debug, Default)]
pub struct BuiltinExtractor;

impl Extractor for BuiltinExtractor {
    fn id(&self) -> &str {
        extract::EXTRACTOR_ID
    }

    fn version(&self) -> i64 {
        extract::EXTRACTOR_VERSION
    }

    fn is_local(&self) -> bool {
        true
    }

    fn extract(&self, content: &Content) -> Result<Extraction, ProviderError> {
        Ok(extract::extract(content))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_rules_need_nothing_but_the_text() {
        let content = Content {
            topic: "Deployment".into(),
            context: "The file src/main.rs uses RetryPolicy, see TKT-100.".into(),
            decisions: vec![],
            rationale: vec![],
        };
        assert_eq!(BuiltinExtractor.id(), "builtin");
        assert!(BuiltinExtractor.is_local());
        let extraction = BuiltinExtractor.extract(&content).unwrap();
        assert!(extraction.entities.iter().any(|it| it.name == "RetryPolicy"), "{extraction:?}");
    }
}
