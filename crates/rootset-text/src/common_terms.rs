//! Words that people say in every other prompt: that two texts share one of them says nothing about what they are about.
//!
//! As terms of the index, so after stemming. Beside these count the words that are ordinary at the beginning of a sentence. Names,
//! tools and subjects are not ordinary, however often a store mentions them: that is for its statistics to say.

use crate::words::is_starter;

/// Stems, sorted.
#[rustfmt::skip]
const STEMS: &[&str] = &[
    "abl", "abov", "accord", "actual", "again", "agent", "allow", "alreadi", "answer", "anyth", "app", "appear",
    "appli", "applic", "approach", "argument", "arrai", "array", "attempt", "avoid", "back", "bad", "basic", "becaus",
    "befor", "behavior", "behaviour", "best", "better", "bit", "bodi", "bool", "both", "bottom", "break", "broken",
    "bug", "byte", "call", "caller", "case", "caus", "chang", "charact", "class", "clean", "clear", "click", "codebas",
    "color", "column", "command", "comment", "commit", "compil", "complet", "compon", "comput", "configur", "const",
    "contain", "content", "continu", "convert", "copi", "correct", "count", "cover", "crash", "creat", "debug",
    "declar", "depend", "describ", "detail", "develop", "differ", "directori", "doc", "doe", "doubl", "easi", "edit",
    "element", "els", "empti", "end", "endpoint", "enough", "entir", "entri", "environ", "equal", "event", "everyth",
    "exampl", "except", "execut", "exist", "expect", "explain", "express", "extract", "fail", "failur", "fals", "far",
    "fast", "featur", "few", "field", "file", "final", "finish", "folder", "form", "format", "forward", "framework",
    "full", "function", "gener", "get", "git", "given", "group", "happen", "head", "helper", "high", "id", "immedi",
    "implement", "import", "inlin", "insid", "instal", "instead", "int", "integr", "interfac", "item", "job", "json",
    "kei", "key", "kind", "languag", "larg", "later", "lead", "left", "length", "let", "level", "librari", "line",
    "link", "load", "local", "logic", "loop", "main", "manag", "match", "mean", "method", "miss", "mode", "model",
    "modul", "more", "multipl", "name", "necessari", "new", "number", "object", "onli", "oper", "option", "order",
    "output", "overal", "packag", "page", "paramet", "part", "pass", "path", "pattern", "pleas", "point", "possibl",
    "previou", "print", "privat", "proceed", "process", "program", "project", "properti", "provid", "public", "pull",
    "push", "python", "quick", "rais", "random", "real", "refactor", "refer", "relat", "repo", "report", "repositori",
    "requir", "resolv", "respons", "rest", "review", "row", "rule", "rust", "sampl", "save", "screen", "script",
    "section", "separ", "seri", "servic", "session", "setup", "shorter", "side", "simpl", "simplifi", "singl", "size",
    "slow", "solut", "solv", "somehow", "sort", "sourc", "specif", "step", "string", "structur", "stuff", "suit", "sum",
    "switch", "tabl", "text", "titl", "togeth", "tool", "top", "total", "tri", "type", "understand", "unit", "updat",
    "url", "util", "valid", "valu", "variabl", "verifi", "view", "walk", "warn", "way", "word", "wrong",
];

/// Whether a term of the index is a word that says nothing.
pub fn is_common(term: &str) -> bool {
    term.chars().count() < 3 && term.is_ascii() || is_starter(term) || STEMS.binary_search(&term).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stems_are_sorted_and_subjects_are_not_among_them() {
        assert!(STEMS.is_sorted(), "{:?}", STEMS.windows(2).find(|pair| pair[0] > pair[1]));
        assert!(["fix", "test", "function", "a", "12", "run", "pleas"].iter().all(|term| is_common(term)));
        assert!(["falcon", "pnpm", "postgr", "billing", "東", "tkt-100"].iter().all(|term| !is_common(term)));
    }
}
