//! SQLite's words in PostgreSQL's: placeholders `?1` and bytes `X'00'`. Everything else that tests say is the same in both.

/// Leaves texts in quotes as they are.
pub fn postgres(sql: &str) -> String {
    let mut out = String::with_capacity(sql.len());
    let mut rest = sql;
    while let Some(at) = rest.find(['\'', '?', 'X', 'x']) {
        let (before, found) = rest.split_at(at);
        out.push_str(before);
        let is_word_before = out.ends_with(|last: char| last.is_alphanumeric() || last == '_');
        match found.as_bytes() {
            [b'X' | b'x', b'\'', ..] if !is_word_before => {
                let end = 2 + found[2..].find('\'').expect("bytes end with a quote");
                out.push_str(&format!("'\\x{}'::bytea", &found[2..end]));
                rest = &found[end + 1..];
            }
            [b'\'', ..] => {
                let end = 1 + found[1..].find('\'').expect("a text ends with a quote");
                out.push_str(&found[..=end]);
                rest = &found[end + 1..];
            }
            [b'?', ..] => {
                out.push('$');
                rest = &found[1..];
            }
            _ => {
                out.push_str(&found[..1]);
                rest = &found[1..];
            }
        }
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::postgres;

    #[test]
    fn placeholders_and_bytes_are_rewritten_and_texts_are_not() {
        assert_eq!(
            postgres("UPDATE a SET MAX = X'00FF', b = 'X''?1', max = x'' WHERE c = ?12"),
            "UPDATE a SET MAX = '\\x00FF'::bytea, b = 'X''?1', max = '\\x'::bytea WHERE c = $12"
        );
    }
}
