//! Fields of JSON objects that people write, found by name without regard to case, as in k6.
//!
//! Public scripts say `VUs`, `startvus` and `gracefulRampdown`; without this another test than the one written would
//! run. Of several spellings of one name, k6 obeys the one that sorts last.

use serde_json::{Map, Value};

/// Whether a field that was found is the one called `name`.
pub fn is(found: &str, name: &str) -> bool {
    found.eq_ignore_ascii_case(name)
}

/// The value of the field called `name`, unless it is null.
pub fn find<'a>(fields: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    let spellings = fields.iter().filter(|(found, _)| is(found, name));
    spellings.max_by_key(|(found, _)| *found).map(|(_, value)| value).filter(|value| !value.is_null())
}

/// The same object with the spelling of `names`; fields that are none of them stay. Other values stay as they are.
pub fn respelled(value: &Value, names: &[&str]) -> Value {
    let Value::Object(fields) = value else { return value.clone() };
    let others = fields.iter().filter(|(found, _)| !names.iter().any(|name| is(found, name)));
    let mut all: Map<String, Value> = others.map(|(found, value)| (found.clone(), value.clone())).collect();
    all.extend(names.iter().filter_map(|name| Some(((*name).to_owned(), find(fields, name)?.clone()))));
    Value::Object(all)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn found(object: &Value, name: &str) -> Option<Value> {
        find(object.as_object().expect("an object"), name).cloned()
    }

    #[test]
    fn case_makes_no_difference_and_the_last_spelling_wins() {
        assert_eq!(found(&json!({ "startvus": 2 }), "startVUs"), Some(json!(2)));
        assert_eq!(found(&json!({ "vus": 1, "VUS": 3 }), "vus"), Some(json!(1)));
        assert_eq!(found(&json!({ "VUS": 3, "vus": 1 }), "vus"), Some(json!(1)));
        assert_eq!(found(&json!({ "VUS": 3, "vus": null }), "vus"), None);
        assert_eq!(found(&json!({ "vuss": 3 }), "vus"), None);
    }

    #[test]
    fn respelling_keeps_what_it_does_not_know() {
        assert_eq!(respelled(&json!({ "MIN": 1, "other": 2 }), &["min", "max"]), json!({ "other": 2, "min": 1 }));
        assert_eq!(respelled(&json!("tls1.2"), &["min"]), json!("tls1.2"));
    }
}
