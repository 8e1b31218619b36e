//! The remote embedder against scripted endpoints.

use std::sync::Arc;

use rootset_provider::{AnswerFault, Embedder, EndpointSettings, OpenAiEmbedder, ProviderError};
use serde_json::json;

use crate::support::{FakeTimer, KEY, Reply, Server, assert_says_nothing_private};

fn embedder(server: &Server) -> OpenAiEmbedder {
    OpenAiEmbedder::new(server.settings()).unwrap().with_timer(Arc::new(FakeTimer::default()))
}

/// The fault of an answer to the texts `Falcon` and `Redis`.
fn fault_of(replies: Vec<Reply>) -> AnswerFault {
    let server = Server::start(replies);
    let mut error = embedder(&server).embed(&["Falcon", "Redis"]).unwrap_err();
    assert_says_nothing_private(&error);
    server.finish();
    if let ProviderError::GaveUp { last, .. } = error {
        error = *last;
    }
    match error {
        ProviderError::Answer { fault, .. } => fault,
        other => panic!("not a fault of the answer: {other}"),
    }
}

#[test]
fn vectors_come_back_in_the_order_of_the_texts_and_of_unit_length() {
    let server = Server::start(vec![Reply::vectors(&[(1, &[0.0, 5.0]), (0, &[3.0, 4.0])])]);
    let vectors = embedder(&server).embed(&["Falcon", "Redis"]).unwrap();
    assert_eq!(vectors, [[0.6, 0.8], [0.0, 1.0]]);
    let received = server.finish();
    assert_eq!(received[0].request_line, "POST /v1/embeddings HTTP/1.1");
    assert_eq!(received[0].header("authorization"), Some(format!("Bearer {KEY}").as_str()));
    assert_eq!(received[0].body, json!({"model": "m", "input": ["Falcon", "Redis"], "encoding_format": "float"}));
}

#[test]
fn many_texts_are_sent_in_batches() {
    let texts = vec!["x"; 65];
    let first: Vec<(usize, &[f32])> = (0..64).map(|index| (index, &[1.0, 0.0][..])).collect();
    let server = Server::start(vec![Reply::vectors(&first), Reply::vectors(&[(0, &[0.0, 1.0])])]);
    let vectors = embedder(&server).embed(&texts).unwrap();
    assert_eq!((vectors.len(), &vectors[64]), (65, &vec![0.0, 1.0]));
    let counts: Vec<usize> = server.finish().iter().map(|it| it.body["input"].as_array().unwrap().len()).collect();
    assert_eq!(counts, [64, 1]);
}

#[test]
fn no_texts_need_no_request() {
    let server = Server::start(vec![]);
    assert!(embedder(&server).embed(&[]).unwrap().is_empty());
    server.finish();
}

#[test]
fn a_server_error_is_tried_again() {
    let server = Server::start(vec![Reply::status(503), Reply::vectors(&[(0, &[1.0])])]);
    assert_eq!(embedder(&server).embed(&["Falcon"]).unwrap(), [[1.0]]);
    server.finish();
}

#[test]
fn a_wrong_count_is_an_error() {
    let fault = fault_of(vec![Reply::vectors(&[(0, &[1.0])])]);
    assert_eq!(fault, AnswerFault::WrongCount { expected: 2, found: 1 });
}

#[test]
fn an_index_given_twice_is_an_error() {
    let fault = fault_of(vec![Reply::vectors(&[(1, &[1.0]), (1, &[1.0])])]);
    assert_eq!(fault, AnswerFault::WrongIndex { index: 1, count: 2 });
}

#[test]
fn uneven_dimensions_are_an_error() {
    let fault = fault_of(vec![Reply::vectors(&[(0, &[1.0, 2.0]), (1, &[1.0])])]);
    assert_eq!(fault, AnswerFault::WrongDimension { position: 1, expected: 2, found: 1 });
}

#[test]
fn a_later_answer_of_another_dimension_is_an_error() {
    let server = Server::start(vec![Reply::vectors(&[(0, &[1.0, 2.0])]), Reply::vectors(&[(0, &[1.0, 2.0, 3.0])])]);
    let embedder = embedder(&server);
    assert!(embedder.embed(&["Falcon"]).is_ok());
    let error = embedder.embed(&["Redis"]).unwrap_err();
    let ProviderError::Answer { fault, .. } = error else { panic!("{error}") };
    assert_eq!(fault, AnswerFault::WrongDimension { position: 0, expected: 2, found: 3 });
    server.finish();
}

#[test]
fn a_zero_vector_is_an_error() {
    let fault = fault_of(vec![Reply::vectors(&[(0, &[1.0]), (1, &[0.0])])]);
    assert_eq!(fault, AnswerFault::ZeroVector { position: 1 });
}

#[test]
fn values_that_are_no_finite_numbers_are_errors() {
    let rows = |value: &str| {
        Reply::body(format!(
            r#"{{"data": [{{"index": 0, "embedding": [1.0]}}, {{"index": 1, "embedding": [{value}]}}]}}"#
        ))
    };
    for value in ["null", "1e39", "-1e39"] {
        assert_eq!(fault_of(vec![rows(value)]), AnswerFault::NotFinite { position: 1, component: 0 }, "{value}");
    }
    // Not JSON at all, although Python writes it: asked for once more, like every malformed answer.
    for value in ["NaN", "Infinity"] {
        assert!(matches!(fault_of(vec![rows(value), rows(value)]), AnswerFault::NotJson { .. }), "{value}");
    }
}

#[test]
fn an_answer_without_an_end_is_cut_off() {
    let server = Server::start(vec![Reply::Endless]);
    let error = embedder(&server).embed(&["Falcon"]).unwrap_err();
    assert!(matches!(error, ProviderError::AnswerTooLarge { .. }), "{error}");
    assert!(!error.is_retryable());
    server.finish();
}

#[test]
fn texts_that_no_server_takes_are_refused_before_anything_is_sent() {
    let server = Server::start(vec![]);
    assert!(matches!(embedder(&server).embed(&["Falcon", ""]), Err(ProviderError::BlankText { position: 1 })));
    let large = "Falcon ".repeat(100_000);
    assert!(matches!(embedder(&server).embed(&[&large]), Err(ProviderError::TextTooLarge { .. })));
    server.finish();
}

#[test]
fn the_embedder_is_known_by_its_model() {
    let embedder = OpenAiEmbedder::new(EndpointSettings::new("http://localhost:1/v1", "nomic-embed-text")).unwrap();
    assert_eq!(embedder.id(), "openai:nomic-embed-text");
    assert!(!embedder.is_local());
}
