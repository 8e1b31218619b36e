//! The sentence transformer in this process, on a tiny one that `scripts/make-tiny-model` made together with the vectors
//! that it has to give.

use std::fs;
use std::path::{Path, PathBuf};

use rootset_provider::{Embedder, LocalEmbedder, ModelSummary};
use serde_json::{Value, json};
use tempfile::TempDir;

const FILES: [&str; 6] = [
    "1_Pooling/config.json",
    "config.json",
    "model.safetensors",
    "modules.json",
    "sentence_bert_config.json",
    "tokenizer.json",
];
/// Single precision against double, over two layers.
const TOLERANCE: f64 = 2e-5;

fn fixture() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/tiny-model")
}

/// A copy that a test may spoil, in a folder of its own name.
fn copy() -> TempDir {
    let folder = tempfile::Builder::new().prefix("tiny-copy").tempdir().unwrap();
    fs::create_dir(folder.path().join("1_Pooling")).unwrap();
    for file in FILES {
        fs::copy(fixture().join(file), folder.path().join(file)).unwrap();
    }
    folder
}

fn change(folder: &Path, file: &str, change: impl FnOnce(&mut Value)) {
    let path = folder.join(file);
    let mut json = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    change(&mut json);
    fs::write(path, json.to_string()).unwrap();
}

fn set_pooling(folder: &Path, pooling: &str) {
    change(folder, "1_Pooling/config.json", |config| {
        for mode in ["mean_tokens", "cls_token", "max_tokens"] {
            config[format!("pooling_mode_{mode}")] = mode.starts_with(pooling).into();
        }
    });
}

/// The texts and vectors that were computed for one way of pooling.
fn expected(pooling: &str) -> Vec<(String, Vec<f64>)> {
    let lines = fs::read_to_string(fixture().join("expected.jsonl")).unwrap();
    let lines = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let of_pooling = lines.filter(|line| line["pooling"] == pooling);
    let numbers = |vector: &Value| vector.as_array().unwrap().iter().map(|it| it.as_f64().unwrap()).collect();
    of_pooling.map(|line| (line["text"].as_str().unwrap().to_owned(), numbers(&line["vector"]))).collect()
}

fn assert_gives(folder: &Path, expected: &[(String, Vec<f64>)]) {
    let embedder = LocalEmbedder::load(folder).unwrap();
    let texts: Vec<&str> = expected.iter().map(|(text, _)| text.as_str()).collect();
    for (vector, (text, expected)) in embedder.embed(&texts).unwrap().iter().zip(expected) {
        let off = vector.iter().zip(expected).map(|(a, b)| (f64::from(*a) - b).abs()).fold(0.0, f64::max);
        assert!(vector.len() == expected.len() && off < TOLERANCE, "{text}: {vector:?} instead of {expected:?}");
    }
}

fn problem(folder: &Path) -> String {
    let error = LocalEmbedder::load(folder).unwrap_err();
    assert!(!error.is_retryable());
    error.to_string()
}

#[test]
fn vectors_are_those_of_the_reference_for_each_way_of_pooling() {
    for pooling in ["mean", "cls", "max"] {
        let expected = expected(pooling);
        assert_eq!(expected.len(), 6);
        let folder = copy();
        set_pooling(folder.path(), pooling);
        assert_gives(folder.path(), &expected);
    }
}

#[test]
fn a_text_has_the_same_vector_alone_and_among_many() {
    let embedder = LocalEmbedder::load(&fixture()).unwrap();
    let texts: Vec<String> =
        (0..700).map(|number| ["red ", "server ", "monday . "][number % 3].repeat(number % 7)).collect();
    let borrowed: Vec<&str> = texts.iter().map(String::as_str).collect();
    let together = embedder.embed(&borrowed).unwrap();
    assert_eq!(together.len(), texts.len());
    for (text, vector) in borrowed.iter().zip(&together) {
        let alone = &embedder.embed(&[text]).unwrap()[0];
        let off = alone.iter().zip(vector).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(off < 1e-5, "{text}: {alone:?} {vector:?}");
        assert!((vector.iter().map(|it| it * it).sum::<f32>() - 1.0).abs() < 1e-5);
    }
    assert!(embedder.embed(&[]).unwrap().is_empty());
}

#[test]
fn older_folders_without_the_files_of_sentence_transformers_are_read() {
    let folder = copy();
    for file in ["1_Pooling/config.json", "modules.json", "tokenizer.json"] {
        fs::remove_file(folder.path().join(file)).unwrap();
    }
    let vocabulary = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nthe\nserver\ntoken\nis\nrotated\nevery\nmonday\nred\ngreen\n##ish\n##s\n.\n,\n";
    fs::write(folder.path().join("vocab.txt"), vocabulary).unwrap();
    assert_gives(folder.path(), &expected("mean"));
}

#[test]
fn weights_in_half_precision_and_under_the_prefix_of_a_larger_model_are_read() {
    let folder = copy();
    let path = folder.path().join("model.safetensors");
    rewrite_weights(&path, |name, dtype, bytes| {
        let halves = bytes.chunks_exact(4).flat_map(|four| [four[2], four[3]]).collect();
        *dtype = safetensors::Dtype::BF16;
        *bytes = halves;
        format!("bert.{name}")
    });
    let half = LocalEmbedder::load(folder.path()).unwrap();
    let whole = LocalEmbedder::load(&fixture()).unwrap();
    assert_ne!(half.id(), whole.id());
    let cosine: f32 = half.embed(&["red server"]).unwrap()[0]
        .iter()
        .zip(&whole.embed(&["red server"]).unwrap()[0])
        .map(|(a, b)| a * b)
        .sum();
    assert!(cosine > 0.99 && cosine < 0.999_999_9, "{cosine}");
}

#[test]
fn the_id_names_the_folder_and_follows_every_file_that_changes_a_vector() {
    let folder = copy();
    let name = folder.path().file_name().unwrap().to_str().unwrap().to_owned();
    let id = || LocalEmbedder::load(folder.path()).unwrap().id().to_owned();
    let first = id();
    let hash = first.strip_prefix(&format!("local:{name}:")).unwrap();
    assert!(hash.len() == 16 && hash.bytes().all(|byte| byte.is_ascii_hexdigit()), "{first}");
    #[cfg(unix)]
    {
        let elsewhere = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink(folder.path(), elsewhere.path().join(&name)).unwrap();
        assert_eq!(
            LocalEmbedder::load(&elsewhere.path().join(&name)).unwrap().id(),
            first,
            "a link makes no difference"
        );
    }
    let mut seen = vec![first];
    set_pooling(folder.path(), "max");
    seen.push(id());
    change(folder.path(), "sentence_bert_config.json", |config| config["max_seq_length"] = 7.into());
    seen.push(id());
    change(folder.path(), "tokenizer.json", |config| config["normalizer"]["lowercase"] = false.into());
    seen.push(id());
    let path = folder.path().join("model.safetensors");
    let mut bytes = fs::read(&path).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    fs::write(&path, bytes).unwrap();
    seen.push(id());
    let count = seen.len();
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), count, "{seen:?}");
}

#[test]
fn a_model_says_what_it_is() {
    let summary = LocalEmbedder::load(&fixture()).unwrap().summary();
    assert_eq!(summary, ModelSummary { dimension: 8, layers: 2, window_tokens: 6, parameters: 1_464 });
}

#[test]
fn a_missing_file_is_named() {
    let missing = problem(Path::new("/nonexistent/model"));
    assert!(missing.contains("/nonexistent/model") && missing.contains("rootset model get"), "{missing}");
    for (file, named) in
        [("config.json", "config.json"), ("model.safetensors", "model.safetensors"), ("tokenizer.json", "vocab.txt")]
    {
        let folder = copy();
        fs::remove_file(folder.path().join(file)).unwrap();
        let problem = problem(folder.path());
        assert!(problem.contains(&format!("{named}`: cannot be read: entity not found")), "{problem}");
    }
}

#[cfg(unix)]
#[test]
fn what_is_not_a_regular_file_is_refused_without_waiting_for_it() {
    for file in FILES {
        let folder = copy();
        fs::remove_file(folder.path().join(file)).unwrap();
        std::os::unix::fs::symlink("/dev/zero", folder.path().join(file)).unwrap();
        let problem = problem(folder.path());
        assert!(problem.contains(file) && problem.contains("not a regular file"), "{problem}");
    }
}

#[test]
fn settings_that_no_model_has_are_refused_before_anything_is_allocated() {
    let check = |field: &str, value: Value, expected: &str| {
        let folder = copy();
        change(folder.path(), "config.json", |config| config[field] = value);
        let problem = problem(folder.path());
        assert!(problem.contains("config.json") && problem.contains(expected), "{field}: {problem}");
    };
    let huge = json!(u64::MAX);
    check("hidden_size", huge.clone(), "`hidden_size` is 18446744073709551615; allowed: 1 to 4096");
    check("num_hidden_layers", huge.clone(), "allowed: 1 to 48");
    check("vocab_size", huge.clone(), "allowed: 1 to 1000000");
    check("intermediate_size", huge.clone(), "allowed: 1 to 16384");
    check("max_position_embeddings", huge.clone(), "allowed: 3 to 8192");
    check("type_vocab_size", huge, "allowed: 1 to 16");
    check("num_attention_heads", 0.into(), "allowed: 1 to 4096");
    check("num_attention_heads", 3.into(), "is 3, which does not divide `hidden_size` 8");
    check("hidden_size", (-8).into(), "`hidden_size` is missing or not a number");
    check("hidden_size", Value::Null, "`hidden_size` is missing or not a number");
    check("model_type", "roberta".into(), "`model_type` is `roberta`; supported: `bert`");
    check("hidden_act", "swish".into(), "`hidden_act` is `swish`");
    check("position_embedding_type", "relative_key".into(), "`position_embedding_type` is `relative_key`");
}

#[test]
fn parts_that_would_be_left_out_are_refused() {
    let folder = copy();
    set_pooling(folder.path(), "m");
    assert!(problem(folder.path()).contains("1_Pooling/config.json`: `pooling_mode` is `mean_tokens and max_tokens`"));
    let folder = copy();
    let dense = json!({"idx": 3, "path": "3_Dense", "type": "sentence_transformers.models.Dense"});
    change(folder.path(), "modules.json", |modules| modules.as_array_mut().unwrap().push(dense));
    assert!(problem(folder.path()).contains("modules.json`: `type` is `Dense`"));
    let folder = copy();
    change(folder.path(), "sentence_bert_config.json", |config| config["max_seq_length"] = 13.into());
    assert!(problem(folder.path()).contains("`max_seq_length` is 13; allowed: 3 to 12"));
}

#[test]
fn settings_that_are_not_json_are_refused_by_position() {
    for file in FILES.iter().filter(|file| file.ends_with(".json")) {
        for text in ["", "{", "\u{0}", "[1, 2"] {
            let folder = copy();
            fs::write(folder.path().join(file), text).unwrap();
            let problem = problem(folder.path());
            assert!(problem.contains(file) && problem.contains("line 1"), "{problem}");
        }
    }
}

#[test]
fn a_tokenizer_that_does_not_fit_is_refused() {
    let folder = copy();
    change(folder.path(), "tokenizer.json", |it| it["model"]["vocab"]["late"] = 18.into());
    assert!(problem(folder.path()).contains("holds token id 18, but `config.json` says that there are 18 tokens"));
    let folder = copy();
    change(folder.path(), "tokenizer.json", |it| drop(it["model"]["vocab"].as_object_mut().unwrap().remove("[SEP]")));
    assert!(problem(folder.path()).contains("no tokens that begin and end a text"));
    let folder = copy();
    change(folder.path(), "tokenizer.json", |it| it["model"]["max_input_chars_per_word"] = u64::MAX.into());
    assert!(problem(folder.path()).contains("`max_input_chars_per_word` is more than 1000"));
}

#[test]
fn a_cut_or_padded_weight_file_is_refused() {
    let folder = copy();
    let path = folder.path().join("model.safetensors");
    let bytes = fs::read(&path).unwrap();
    for length in [0, 7, 8, 100, bytes.len() / 2, bytes.len() - 1] {
        fs::write(&path, &bytes[..length]).unwrap();
        let problem = problem(folder.path());
        assert!(problem.contains("model.safetensors`: not a whole safetensors file"), "{length}: {problem}");
    }
    fs::write(&path, [&bytes[..], b"x"].concat()).unwrap();
    assert!(problem(folder.path()).contains("instead of"));
    let mut long_header = bytes;
    long_header[..8].copy_from_slice(&u64::MAX.to_le_bytes());
    fs::write(&path, long_header).unwrap();
    assert!(problem(folder.path()).contains("its header would have 18446744073709551615 bytes"));
}

#[test]
fn tensors_that_do_not_fit_the_settings_are_refused_by_name() {
    let check = |change: &dyn Fn(&str, &mut safetensors::Dtype, &mut Vec<u8>) -> String, expected: &str| {
        let folder = copy();
        rewrite_weights(&folder.path().join("model.safetensors"), |name, dtype, bytes| change(name, dtype, bytes));
        let problem = problem(folder.path());
        assert!(problem.contains("model.safetensors") && problem.contains(expected), "{problem}");
    };
    let renamed = |name: &str, _: &mut safetensors::Dtype, _: &mut Vec<u8>| name.replace("layer.1.output", "layer.1.x");
    check(&renamed, "has no tensor `encoder.layer.1.output.");
    let integers = |name: &str, dtype: &mut safetensors::Dtype, _: &mut Vec<u8>| {
        *dtype = safetensors::Dtype::I32;
        name.to_owned()
    };
    check(&integers, "is of type I32; supported: F32, F16, BF16");
    let folder = copy();
    change(folder.path(), "config.json", |config| config["vocab_size"] = 1_000_000.into());
    let problem = problem(folder.path());
    assert!(problem.contains("tensor `embeddings.word_embeddings.weight` has shape [18, 8]"), "{problem}");
}

#[test]
fn weights_that_are_not_finite_are_found_when_they_are_used() {
    let folder = copy();
    rewrite_weights(&folder.path().join("model.safetensors"), |name, _, bytes| {
        if name == "encoder.layer.0.output.dense.bias" {
            bytes[..4].copy_from_slice(&f32::NAN.to_le_bytes());
        }
        name.to_owned()
    });
    let error = LocalEmbedder::load(folder.path()).unwrap().embed(&["red"]).unwrap_err();
    assert!(error.to_string().contains("not a finite number"), "{error}");
}

/// Writes the weights again, each with what `change` makes of it and under the name that it answers.
fn rewrite_weights(path: &Path, change: impl Fn(&str, &mut safetensors::Dtype, &mut Vec<u8>) -> String) {
    let bytes = fs::read(path).unwrap();
    let tensors = safetensors::SafeTensors::deserialize(&bytes).unwrap();
    let changed: Vec<_> = tensors
        .iter()
        .map(|(name, tensor)| {
            let (mut dtype, mut bytes) = (tensor.dtype(), tensor.data().to_vec());
            let name = change(name, &mut dtype, &mut bytes);
            (name, dtype, tensor.shape().to_vec(), bytes)
        })
        .collect();
    let views = changed.iter().map(|(name, dtype, shape, bytes)| {
        (name, safetensors::tensor::TensorView::new(*dtype, shape.clone(), bytes).unwrap())
    });
    fs::write(path, safetensors::serialize(views, None).unwrap()).unwrap();
}

/// The values of sentence-transformers for all-MiniLM-L6-v2, checked where `ROOTSET_TEST_MINILM` names its folder, which
/// scripts/merge-checks does. Elsewhere the tiny model stands in for it.
#[test]
fn minilm_gives_the_vectors_of_its_makers() {
    let Some(folder) = std::env::var_os("ROOTSET_TEST_MINILM") else {
        eprintln!("SKIPPED: the real model was not tried, set ROOTSET_TEST_MINILM");
        return;
    };
    let embedder = LocalEmbedder::load(Path::new(&folder)).unwrap();
    let expected: [(&str, [f32; 8]); 3] = [
        (
            "This is an example sentence",
            [0.067_657, 0.063_496, 0.048_713, 0.079_305, 0.037_448, 0.002_653, 0.039_375, -0.007_098],
        ),
        (
            "Each sentence is converted",
            [0.086_439, 0.102_763, 0.005_395, 0.002_044, -0.009_963, 0.025_386, 0.049_288, -0.030_627],
        ),
        (
            "The staging server's token is rotated every Monday; naïve CAFÉ 日本 — v2.1 (see TKT-100).",
            [-0.014_116, 0.002_687, 0.024_423, -0.035_756, 0.008_67, -0.018_95, -0.002_031, -0.038_854],
        ),
    ];
    let vectors = embedder.embed(&expected.map(|(text, _)| text)).unwrap();
    for (vector, (text, expected)) in vectors.iter().zip(expected) {
        assert_eq!(vector.len(), 384);
        let off = vector.iter().zip(expected).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(off < 1e-5, "{text}: {:?} instead of {expected:?}", &vector[..8]);
    }
}
