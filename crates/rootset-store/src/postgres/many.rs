//! One statement over many rows of parameters: the statement's text with its parameters taken from arrays, so that a
//! thousand rows cost one round trip and one plan.
//!
//! `INSERT … VALUES (…)`, `INSERT … SELECT … FROM table WHERE …`, `UPDATE … WHERE …` and `DELETE … WHERE …` can be written
//! so; parameters of a batch must not name the same row twice.

use tokio_postgres::types::Type;

/// The statement's text for arrays of these types, `None` for any other form.
pub fn for_arrays(statement: &str, types: &[Type]) -> Option<String> {
    let names: Vec<String> = (1..=types.len()).map(|place| format!("p{place}")).collect();
    let arrays: Vec<String> =
        types.iter().zip(1..).map(|(kind, place)| format!("${place}::{}[]", kind.name())).collect();
    let source = format!("unnest({}) AS given ({})", arrays.join(", "), names.join(", "));
    let text = with_columns(statement);
    if let Some((before, values, after)) = split_values(&text) {
        return Some(format!("{before}SELECT {values} FROM {source}{after}"));
    }
    let place = top_level(&text, " WHERE ").or_else(|| top_level(&text, "\nWHERE "))?;
    let (before, after) = text.split_at(place);
    match statement.split_whitespace().next()? {
        "UPDATE" => Some(format!("{before} FROM {source}{after}")),
        "INSERT" => Some(format!("{before}, {source}{after}")),
        "DELETE" => Some(format!("{before} USING {source}{after}")),
        _ => None,
    }
}

/// `$3` becomes `given.p3`.
fn with_columns(statement: &str) -> String {
    let mut text = String::with_capacity(statement.len() * 2);
    let mut rest = statement;
    while let Some(place) = rest.find('$') {
        let digits = rest[place + 1..].bytes().take_while(u8::is_ascii_digit).count();
        text.push_str(&rest[..place]);
        text.push_str("given.p");
        text.push_str(&rest[place + 1..place + 1 + digits]);
        rest = &rest[place + 1 + digits..];
    }
    text.push_str(rest);
    text
}

/// What stands before `VALUES (`, inside its parentheses, and after them.
fn split_values(text: &str) -> Option<(&str, &str, &str)> {
    let place = text.find("VALUES (")?;
    let inside = &text[place + "VALUES (".len()..];
    let mut depth = 1;
    for (at, character) in inside.char_indices() {
        match character {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some((&text[..place], &inside[..at], &inside[at + 1..]));
        }
    }
    None
}

/// Where a word stands outside of all parentheses.
fn top_level(text: &str, word: &str) -> Option<usize> {
    let mut depth = 0;
    text.char_indices().find_map(|(at, character)| {
        match character {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        (depth == 0 && text[at..].starts_with(word)).then_some(at)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_four_forms_take_their_parameters_from_arrays() {
        let types = [Type::INT8, Type::TEXT];
        let source = "unnest($1::int8[], $2::text[]) AS given (p1, p2)";
        for (one, many) in [
            (
                "INSERT INTO t (a, b) VALUES ($1, COALESCE($2, '')) ON CONFLICT DO NOTHING",
                format!(
                    "INSERT INTO t (a, b) SELECT given.p1, COALESCE(given.p2, '') FROM {source} ON CONFLICT DO NOTHING"
                ),
            ),
            (
                "UPDATE t SET b = $2\nWHERE a = $1 AND c IN (SELECT 1 WHERE TRUE)",
                format!("UPDATE t SET b = given.p2 FROM {source}\nWHERE a = given.p1 AND c IN (SELECT 1 WHERE TRUE)"),
            ),
            (
                "INSERT INTO t (a, b)\nSELECT a, $2 FROM u WHERE a = $1",
                format!("INSERT INTO t (a, b)\nSELECT a, given.p2 FROM u, {source} WHERE a = given.p1"),
            ),
        ] {
            assert_eq!(for_arrays(one, &types).as_deref(), Some(many.as_str()));
        }
        assert_eq!(
            for_arrays("DELETE FROM t WHERE a = $1 AND b = $2", &types),
            Some(format!("DELETE FROM t USING {source} WHERE a = given.p1 AND b = given.p2"))
        );
        assert_eq!(for_arrays("SELECT $1, $2", &types), None);
    }
}
