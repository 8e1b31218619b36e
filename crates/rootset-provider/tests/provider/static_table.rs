//! The static embedder on tiny models that the tests write themselves.

use std::fs;
use std::path::Path;

use rootset_provider::{Embedder, StaticEmbedder};
use safetensors::tensor::{Dtype, TensorView};
use serde_json::{Value, json};
use tempfile::TempDir;

/// Rows of [UNK], [PAD], red, green, ##ish.
const ROWS: [[f32; 2]; 5] = [[9.0, 9.0], [-9.0, 9.0], [1.0, 0.0], [0.0, 1.0], [3.0, 0.0]];

fn tokenizer() -> Value {
    json!({
        "version": "1.0",
        // Both of these must not count: a mean over padding is the mean of something else.
        "truncation": {"direction": "Right", "max_length": 1, "strategy": "LongestFirst", "stride": 0},
        "padding": {
            "strategy": {"Fixed": 8}, "direction": "Right", "pad_to_multiple_of": null,
            "pad_id": 1, "pad_type_id": 0, "pad_token": "[PAD]",
        },
        "added_tokens": [],
        "normalizer": {"type": "Lowercase"},
        "pre_tokenizer": {"type": "Whitespace"},
        "post_processor": null,
        "decoder": null,
        "model": {
            "type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100,
            "vocab": {"[UNK]": 0, "[PAD]": 1, "red": 2, "green": 3, "##ish": 4},
        },
    })
}

fn single_bytes(rows: &[[f32; 2]]) -> Vec<u8> {
    rows.iter().flatten().flat_map(|value| value.to_le_bytes()).collect()
}

/// The same rows in half precision; these few values are exact in it.
fn half_bytes(rows: &[[f32; 2]]) -> Vec<u8> {
    let half = |value: f32| match value {
        0.0 => 0x0000,
        1.0 => 0x3c00,
        3.0 => 0x4200,
        9.0 => 0x4880,
        -9.0 => 0xc880_u16,
        other => panic!("{other} is not among the values of the test"),
    };
    rows.iter().flatten().flat_map(|value| half(*value).to_le_bytes()).collect()
}

fn write_table(folder: &Path, tensors: &[(&str, Dtype, Vec<usize>, &[u8])]) {
    let views = tensors
        .iter()
        .map(|(name, dtype, shape, bytes)| (*name, TensorView::new(*dtype, shape.clone(), bytes).unwrap()));
    fs::write(folder.join("model.safetensors"), safetensors::serialize(views, None).unwrap()).unwrap();
}

/// A good model in a folder of its own name.
fn model() -> TempDir {
    let folder = tempfile::Builder::new().prefix("tiny-model").tempdir().unwrap();
    fs::write(folder.path().join("tokenizer.json"), tokenizer().to_string()).unwrap();
    write_table(folder.path(), &[("embeddings", Dtype::F32, vec![5, 2], &single_bytes(&ROWS))]);
    folder
}

fn problem(folder: &Path) -> String {
    let error = StaticEmbedder::load(folder).unwrap_err();
    assert!(!error.is_retryable());
    error.to_string()
}

#[test]
fn a_text_is_the_scaled_mean_of_its_known_tokens() {
    let folder = model();
    let embedder = StaticEmbedder::load(folder.path()).unwrap();
    assert_eq!(embedder.dimension(), 2);
    assert!(embedder.is_local());
    let half = 0.5_f32.sqrt();
    let vectors = embedder.embed(&["Red", "red green", "green zebra", "reddish greenish red", "redish green"]).unwrap();
    assert_eq!(vectors[0], [1.0, 0.0]);
    assert_eq!(vectors[1], [half, half]);
    assert_eq!(vectors[2], [0.0, 1.0]);
    let length = 17_f64.sqrt();
    assert_eq!(vectors[4], [4.0 / length, 1.0 / length].map(|it| it as f32));
    for vector in &vectors {
        assert!((vector.iter().map(|it| it * it).sum::<f32>() - 1.0).abs() < 1e-6, "{vector:?}");
    }
}

#[test]
fn a_text_without_known_tokens_is_like_nothing() {
    let folder = model();
    let vectors = StaticEmbedder::load(folder.path()).unwrap().embed(&["zebra 🎉", "", "red"]).unwrap();
    assert_eq!(vectors, [[0.0, 0.0], [0.0, 0.0], [1.0, 0.0]]);
}

#[test]
fn half_precision_gives_the_same_vectors_under_another_id() {
    let (single, half) = (model(), model());
    write_table(half.path(), &[("embeddings", Dtype::F16, vec![5, 2], &half_bytes(&ROWS))]);
    let (single, half) = (StaticEmbedder::load(single.path()).unwrap(), StaticEmbedder::load(half.path()).unwrap());
    let texts = ["red", "redish green", "green"];
    assert_eq!(single.embed(&texts).unwrap(), half.embed(&texts).unwrap());
    assert_ne!(single.id(), half.id());
}

#[test]
fn the_id_names_the_folder_and_follows_the_files() {
    let folder = model();
    let name = folder.path().file_name().unwrap().to_str().unwrap().to_owned();
    let id = StaticEmbedder::load(folder.path()).unwrap().id().to_owned();
    let hash = id.strip_prefix(&format!("static:{name}:")).unwrap();
    assert!(hash.len() == 16 && hash.bytes().all(|byte| byte.is_ascii_hexdigit()), "{id}");
    assert_eq!(StaticEmbedder::load(&folder.path().join(".")).unwrap().id(), id);

    let mut changed = tokenizer();
    changed["model"]["vocab"] = json!({"[UNK]": 0, "[PAD]": 1, "red": 3, "green": 2, "##ish": 4});
    fs::write(folder.path().join("tokenizer.json"), changed.to_string()).unwrap();
    assert_ne!(StaticEmbedder::load(folder.path()).unwrap().id(), id);
}

#[test]
fn a_missing_file_is_named() {
    let missing = problem(Path::new("/nonexistent/model"));
    assert!(missing.contains("/nonexistent/model") && missing.contains("not found"), "{missing}");
    for file in ["model.safetensors", "tokenizer.json"] {
        let folder = model();
        fs::remove_file(folder.path().join(file)).unwrap();
        let problem = problem(folder.path());
        assert!(problem.contains(file) && problem.contains("not found"), "{problem}");
    }
}

#[test]
fn a_truncated_table_is_refused() {
    let folder = model();
    let path = folder.path().join("model.safetensors");
    let bytes = fs::read(&path).unwrap();
    for length in [0, 7, 20, bytes.len() - 1] {
        fs::write(&path, &bytes[..length]).unwrap();
        let problem = problem(folder.path());
        assert!(problem.contains("model.safetensors`: not a whole safetensors file"), "{length}: {problem}");
    }
}

#[test]
fn tables_of_another_layout_are_refused() {
    let folder = model();
    let bytes = single_bytes(&ROWS);
    let check = |tensors: &[(&str, Dtype, Vec<usize>, &[u8])], expected: &str| {
        write_table(folder.path(), tensors);
        let problem = problem(folder.path());
        assert!(problem.contains("model.safetensors") && problem.contains(expected), "{problem}");
    };
    check(&[("other", Dtype::F32, vec![5, 2], &bytes)], "has no tensor `embeddings`");
    check(&[("embeddings", Dtype::F32, vec![10], &bytes)], "has shape [10]");
    check(&[("embeddings", Dtype::F32, vec![5, 2, 1], &bytes)], "has shape [5, 2, 1]");
    check(&[("embeddings", Dtype::F32, vec![5, 0], &[])], "has shape [5, 0]");
    check(&[("embeddings", Dtype::I32, vec![5, 2], &bytes)], "is of type I32; allowed: F32, F16");
    let weighted = [("embeddings", Dtype::F32, vec![5, 2], &bytes[..]), ("weights", Dtype::F32, vec![5], &bytes[..20])];
    check(&weighted, "tensor `weights`, which is not supported");
}

#[test]
fn a_tokenizer_that_knows_more_tokens_than_the_table_is_refused() {
    let folder = model();
    write_table(folder.path(), &[("embeddings", Dtype::F32, vec![4, 2], &single_bytes(&ROWS[..4]))]);
    let problem = problem(folder.path());
    assert!(problem.contains("token id 4") && problem.contains("4 rows"), "{problem}");
}

#[test]
fn a_broken_tokenizer_is_refused() {
    let folder = model();
    for (text, reason) in [
        ("", "it ends too early, at line 1, column 0"),
        ("not json", "it is not JSON, at line 1, column 2"),
        ("{}", ""),
        (r#"{"model": {"type": "WordPiece", "vocab": 7}}"#, ""),
    ] {
        fs::write(folder.path().join("tokenizer.json"), text).unwrap();
        let problem = problem(folder.path());
        assert!(problem.contains(&format!("tokenizer.json`: not a tokenizer: {reason}")), "{problem}");
        assert!(!problem.contains("expected") && !problem.contains("missing field"), "{problem}");
    }
}

#[test]
fn numbers_that_are_not_finite_are_found_when_they_are_used() {
    let folder = model();
    let mut rows = ROWS;
    rows[3] = [f32::NAN, 0.0];
    write_table(folder.path(), &[("embeddings", Dtype::F32, vec![5, 2], &single_bytes(&rows))]);
    let embedder = StaticEmbedder::load(folder.path()).unwrap();
    assert!(embedder.embed(&["red"]).is_ok());
    let error = embedder.embed(&["red green"]).unwrap_err().to_string();
    assert!(error.contains("row 3"), "{error}");
}
