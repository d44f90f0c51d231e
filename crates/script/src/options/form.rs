//! How the text of a flag or of an environment variable becomes the JSON that a script would have written. Pure.

use serde_json::{Map, Value, json};

/// What an option looks like as text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueForm {
    /// A whole number.
    Integer,
    /// A flag without value, or true/false.
    Switch,
    /// `30s`.
    Time,
    /// `64m`.
    Size,
    /// Kept as it is.
    Text,
    /// A word; a flag that stands alone means this one.
    Mode(&'static str),
    /// Items between commas.
    List,
    /// `10s:5`, several by comma or by repeating the flag.
    Stages,
    /// `name=value` (flag) or `name:value` (environment), repeated or by comma.
    Pairs,
    /// `ttl=5m,select=random,policy=preferIPv4`.
    Fields,
    /// Items that may hold commas: the flag is repeated for more.
    Items,
    /// JSON of this shape, which neither a flag nor a variable can write.
    Json(&'static str),
}

impl ValueForm {
    /// The type that the reference names.
    pub fn name(self) -> &'static str {
        match self {
            ValueForm::Integer => "whole number",
            ValueForm::Switch => "true or false",
            ValueForm::Time => "time",
            ValueForm::Size => "size",
            ValueForm::Text | ValueForm::Mode(_) => "text",
            ValueForm::List | ValueForm::Items => "list of texts",
            ValueForm::Stages => "list of stages",
            ValueForm::Pairs => "texts by name",
            ValueForm::Fields => "object",
            ValueForm::Json(shape) => shape,
        }
    }

    /// Whether a long flag of this form takes the word behind it.
    pub fn takes_word(self) -> bool {
        !matches!(self, ValueForm::Switch | ValueForm::Mode(_))
    }

    /// Whether the flag may be repeated.
    pub fn repeats(self) -> bool {
        matches!(self, ValueForm::Stages | ValueForm::Pairs | ValueForm::List | ValueForm::Items)
    }

    /// The JSON of these texts, one for each time that the flag was given. The error says what was found and what was
    /// expected.
    pub fn json(self, texts: &[String]) -> Result<Value, String> {
        let first = texts.first().map_or("", String::as_str);
        let bad = |expected: &str| format!("found '{first}', expected {expected}");
        match self {
            ValueForm::Integer => {
                first.trim().parse::<i64>().map(|n| json!(n)).map_err(|_| bad("a whole number, as in 10"))
            }
            ValueForm::Switch => parse_switch(first).map(|on| json!(on)).ok_or_else(|| bad("true or false")),
            ValueForm::Time | ValueForm::Size | ValueForm::Text | ValueForm::Mode(_) => Ok(json!(first)),
            ValueForm::List => Ok(json!(items(texts).collect::<Vec<_>>())),
            ValueForm::Items => Ok(json!(texts)),
            ValueForm::Stages => items(texts).map(stage).collect::<Result<Vec<_>, _>>().map(Value::Array),
            ValueForm::Pairs => pairs(items(texts), &['=', ':']).map(Value::Object),
            ValueForm::Fields => pairs(items(texts), &['=']).map(Value::Object),
            ValueForm::Json(shape) => Err(bad(&format!("{shape} in a script or a config file"))),
        }
    }
}

/// true, false, 1, 0, t, f, in any case: what Go's flag parser accepts.
pub fn parse_switch(text: &str) -> Option<bool> {
    match text.trim().to_ascii_lowercase().as_str() {
        "true" | "1" | "t" => Some(true),
        "false" | "0" | "f" => Some(false),
        _ => None,
    }
}

fn items(texts: &[String]) -> impl Iterator<Item = &str> {
    texts.iter().flat_map(|text| text.split(',')).map(str::trim).filter(|item| !item.is_empty())
}

fn stage(item: &str) -> Result<Value, String> {
    let bad = || format!("found '{item}', expected TIME:VUS, as in 30s:10");
    let (duration, target) = item.rsplit_once(':').ok_or_else(bad)?;
    let target: i64 = target.trim().parse().map_err(|_| bad())?;
    Ok(json!({ "duration": duration.trim(), "target": target }))
}

fn pairs<'a>(items: impl Iterator<Item = &'a str>, marks: &[char]) -> Result<Map<String, Value>, String> {
    items
        .map(|item| match item.split_once(|c| marks.contains(&c)) {
            Some((name, value)) => Ok((name.trim().to_owned(), json!(value.trim()))),
            None => Err(format!("found '{item}', expected NAME=VALUE")),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(form: ValueForm, texts: &[&str]) -> Result<Value, String> {
        form.json(&texts.iter().map(|text| text.to_string()).collect::<Vec<_>>())
    }

    #[test]
    fn texts_become_the_json_a_script_would_write() {
        assert_eq!(read(ValueForm::Integer, &["7"]), Ok(json!(7)));
        assert_eq!(read(ValueForm::Switch, &["true"]), Ok(json!(true)));
        assert_eq!(read(ValueForm::Time, &["1m"]), Ok(json!("1m")));
        let stages = json!([{"duration": "5s", "target": 10}, {"duration": "1m", "target": 0}]);
        assert_eq!(read(ValueForm::Stages, &["5s:10,1m:0"]), Ok(stages.clone()));
        assert_eq!(read(ValueForm::Stages, &["5s:10", "1m:0"]), Ok(stages));
        assert_eq!(read(ValueForm::Pairs, &["a=b", "c:d"]), Ok(json!({"a": "b", "c": "d"})));
        assert_eq!(read(ValueForm::Fields, &["ttl=0,select=first"]), Ok(json!({"ttl": "0", "select": "first"})));
        assert_eq!(read(ValueForm::List, &["avg,p(95)"]), Ok(json!(["avg", "p(95)"])));
        assert_eq!(read(ValueForm::Items, &["a,b", "c"]), Ok(json!(["a,b", "c"])));
    }

    #[test]
    fn what_does_not_fit_is_named_with_what_would() {
        for (form, text, problem) in [
            (ValueForm::Integer, "x", "found 'x', expected a whole number, as in 10"),
            (ValueForm::Switch, "on", "found 'on', expected true or false"),
            (ValueForm::Stages, "5s", "found '5s', expected TIME:VUS, as in 30s:10"),
            (ValueForm::Pairs, "a", "found 'a', expected NAME=VALUE"),
            (ValueForm::Fields, "a:b", "found 'a:b', expected NAME=VALUE"),
            (ValueForm::Json("object"), "{}", "found '{}', expected object in a script or a config file"),
        ] {
            assert_eq!(read(form, &[text]), Err(String::from(problem)));
        }
    }
}
