//! How requests name strategies: one by its name, or `all`.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserialize, Deserializer, Error};
use serde::{Serialize, Serializer};

use super::{ALL, STALE_CODE, Strategy};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StrategyChoice {
    One(&'static Strategy),
    All,
}

/// The strategies that any of the choices stands for, in the order of the list.
pub fn chosen(choices: &[StrategyChoice]) -> Vec<&'static Strategy> {
    ALL.iter().copied().filter(|strategy| choices.iter().any(|choice| choice.includes(strategy))).collect()
}

impl StrategyChoice {
    /// Everything that a request may choose: the strategies in the order of the list, and then all of them.
    pub fn every() -> Vec<Self> {
        ALL.iter().map(|strategy| Self::One(strategy)).chain([Self::All]).collect()
    }

    pub fn word(self) -> &'static str {
        match self {
            Self::One(strategy) => strategy.name,
            Self::All => "all",
        }
    }

    /// Every choice in one line, "a, b or c", each as the caller shows it.
    pub fn listed(show: impl Fn(Self) -> String) -> String {
        let mut words: Vec<String> = Self::every().into_iter().map(show).collect();
        let last = words.pop().expect("`all` is always there");
        format!("{} or {last}", words.join(", "))
    }

    fn includes(self, strategy: &Strategy) -> bool {
        match self {
            Self::One(one) => one == strategy,
            Self::All => true,
        }
    }
}

/// What is looked for where nothing is chosen: nothing that anybody wrote.
impl Default for StrategyChoice {
    fn default() -> Self {
        Self::One(&STALE_CODE)
    }
}

impl Serialize for StrategyChoice {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.word())
    }
}

impl<'de> Deserialize<'de> for StrategyChoice {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let word = String::deserialize(deserializer)?;
        Self::every().into_iter().find(|choice| choice.word() == word).ok_or_else(|| {
            let allowed: Vec<String> = Self::every().iter().map(|choice| format!("`{}`", choice.word())).collect();
            D::Error::custom(format!("unknown strategy `{word}`; allowed: {}", allowed.join(", ")))
        })
    }
}

impl JsonSchema for StrategyChoice {
    fn schema_name() -> Cow<'static, str> {
        "StrategyChoice".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let all = json_schema!({ "type": "string", "enum": [Self::All.word()] });
        let one = |strategy: &&Strategy| json_schema!({ "type": "string", "const": strategy.name, "description": strategy.about });
        // As values: a schema inside a schema is written in another order.
        let choices: Vec<_> = [all].into_iter().chain(ALL.iter().map(one)).map(Schema::to_value).collect();
        json_schema!({ "description": "A strategy, or all of them.", "oneOf": choices })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(word: &str) -> Result<StrategyChoice, String> {
        serde_json::from_value(serde_json::json!(word)).map_err(|error| error.to_string())
    }

    #[test]
    fn every_word_is_understood_and_another_is_answered_with_all_of_them() {
        let error = parsed("everything").expect_err("no strategy is called so");
        for choice in StrategyChoice::every() {
            assert_eq!(parsed(choice.word()), Ok(choice));
            assert_eq!(serde_json::json!(choice), choice.word());
            assert!(error.contains(choice.word()), "{error}");
        }
    }

    #[test]
    fn choices_come_once_and_in_the_order_of_the_list() {
        let (first, second) = (StrategyChoice::One(ALL[0]), StrategyChoice::One(ALL[1]));
        assert_eq!(chosen(&[second, first, second]), [ALL[0], ALL[1]]);
        assert_eq!(chosen(&[second, StrategyChoice::All]), ALL);
        assert!(chosen(&[]).is_empty());
    }
}
