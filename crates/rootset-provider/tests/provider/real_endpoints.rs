//! Against real endpoints, where the environment names them: `ROOTSET_TEST_CHAT_URL` and `ROOTSET_TEST_CHAT_MODEL`
//! (`ROOTSET_TEST_CHAT_KEY` if it wants one), `ROOTSET_TEST_EMBED_…` likewise, `ROOTSET_TEST_STATIC_PATH` for a table.

use std::env;
use std::path::Path;

use rootset_model::Content;
use rootset_provider::{
    Embedder, EndpointSettings, Extractor, OpenAiEmbedder, OpenAiExtractor, Secret, StaticEmbedder,
};

fn settings(kind: &str) -> Option<EndpointSettings> {
    let variable = |part: &str| env::var(format!("ROOTSET_TEST_{kind}_{part}")).ok();
    let (Some(url), Some(model)) = (variable("URL"), variable("MODEL")) else {
        eprintln!("SKIPPED: no real endpoint was tried, set ROOTSET_TEST_{kind}_URL and ROOTSET_TEST_{kind}_MODEL");
        return None;
    };
    Some(EndpointSettings { api_key: variable("KEY").map(Secret::new), ..EndpointSettings::new(url, model) })
}

/// Vectors of related texts must be closer than those of unrelated ones.
fn assert_tells_topics_apart(embedder: &dyn Embedder) {
    let texts = ["The cat sleeps on the sofa.", "A kitten naps on the couch.", "The compiler rejects this borrow."];
    let vectors = embedder.embed(&texts).unwrap();
    let cosine = |a: usize, b: usize| vectors[a].iter().zip(&vectors[b]).map(|(x, y)| x * y).sum::<f32>();
    assert!((cosine(0, 0) - 1.0).abs() < 1e-3);
    assert!(cosine(0, 1) > cosine(0, 2), "{} {}", cosine(0, 1), cosine(0, 2));
}

#[test]
fn a_real_chat_model_finds_what_a_note_names() {
    let Some(settings) = settings("CHAT") else { return };
    let content = Content {
        topic: "Cache of Project Falcon".into(),
        context: "Project Falcon uses Redis as its cache. Alice Miller replaced Memcached with it in May.".into(),
        decisions: vec!["Keep Redis until version 2.0".into()],
        rationale: vec![],
    };
    let extraction = OpenAiExtractor::new(settings).unwrap().extract(&content).unwrap();
    let names: Vec<String> = extraction.entities.iter().map(|it| it.name.to_lowercase()).collect();
    assert!(names.iter().any(|name| name.contains("redis")), "{names:?}");
}

#[test]
fn a_real_embedding_model_tells_topics_apart() {
    let Some(settings) = settings("EMBED") else { return };
    assert_tells_topics_apart(&OpenAiEmbedder::new(settings).unwrap());
}

#[test]
fn a_real_static_table_tells_topics_apart() {
    let Ok(path) = env::var("ROOTSET_TEST_STATIC_PATH") else {
        eprintln!("SKIPPED: no real static table was tried, set ROOTSET_TEST_STATIC_PATH to a model2vec folder");
        return;
    };
    assert_tells_topics_apart(&StaticEmbedder::load(Path::new(&path)).unwrap());
}
