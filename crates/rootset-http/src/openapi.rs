//! `/openapi.json`.
use axum::response::IntoResponse;
use serde_json::{Value, json};

pub fn document() -> Value {
    json!({"openapi": "3.1.0"})
}

pub async fn serve() -> impl IntoResponse {
    document().to_string()
}
