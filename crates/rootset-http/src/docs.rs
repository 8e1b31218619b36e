//! `/docs`.
pub async fn serve() -> &'static str {
    "docs"
}
