//! URLs of a collection: a text, or its parts, with variables of the path.

use serde_json::Value;

use super::{Collection, is_on, pairs};
use crate::template::Template;

impl Collection {
    /// A URL; empty when there is none.
    pub(super) fn url(&mut self, json: Option<&Value>) -> Template {
        let Some(json) = json else { return Template::default() };
        let raw = match json {
            Value::String(text) => text.as_str(),
            _ => json.get("raw").and_then(Value::as_str).unwrap_or_default(),
        };
        let text = if raw.is_empty() { from_parts(json) } else { without_disabled(raw, json) };
        let text = with_path_variables(&text, json);
        let text = text.trim();
        if text.is_empty() {
            return Template::default();
        }
        let has_variable_scheme = text.starts_with("{{") && !self.variables.begins_without_scheme(text);
        let whole =
            if has_variable_scheme || text.contains("://") { text.to_owned() } else { format!("http://{text}") };
        let whole = whole.replace(' ', "%20");
        self.template(whole.split('#').next().unwrap_or_default())
    }
}

/// Parameters that are switched off are not in `raw`, except where an export has them there.
fn without_disabled(raw: &str, json: &Value) -> String {
    let off = json.get("query").and_then(Value::as_array).into_iter().flatten().filter(|item| !is_on(item));
    let mut text = raw.to_owned();
    for item in off {
        let part = |key: &str| item.get(key).and_then(Value::as_str).unwrap_or_default();
        let pair = format!("{}={}", part("key"), part("value"));
        for (mark, instead) in [("?", "?"), ("&", "")] {
            let found = format!("{mark}{pair}");
            if let Some(at) = text.find(&found) {
                let end = at + found.len();
                if text[end..].is_empty() || text[end..].starts_with('&') {
                    text = format!("{}{instead}{}", &text[..at], &text[end..]);
                }
            }
        }
    }
    text.replace("?&", "?").trim_end_matches('?').to_owned()
}

fn from_parts(json: &Value) -> String {
    let joined = |key: &str, separator: &str| match json.get(key) {
        Some(Value::Array(parts)) => {
            let text =
                |part: &Value| part.as_str().or_else(|| part.get("value")?.as_str()).unwrap_or_default().to_owned();
            parts.iter().map(text).collect::<Vec<_>>().join(separator)
        }
        Some(Value::String(text)) => text.clone(),
        _ => String::new(),
    };
    let (host, path) = (joined("host", "."), joined("path", "/"));
    if host.is_empty() {
        return String::new();
    }
    let text = |key: &str| json.get(key).and_then(Value::as_str).unwrap_or_default();
    let protocol = text("protocol").trim_end_matches("://");
    let scheme = if protocol.is_empty() { String::new() } else { format!("{protocol}://") };
    let port = if text("port").is_empty() { String::new() } else { format!(":{}", text("port")) };
    let query: Vec<String> = pairs(json.get("query")).iter().map(|(key, value)| format!("{key}={value}")).collect();
    let query = if query.is_empty() { String::new() } else { format!("?{}", query.join("&")) };
    format!("{scheme}{host}{port}/{}{query}", path.trim_start_matches('/'))
}

/// `/:id` with the value of the variable.
fn with_path_variables(text: &str, json: &Value) -> String {
    let mut values = pairs(json.get("variable"));
    values.retain(|(_, value)| !value.is_empty());
    let (path, query) = text.split_once('?').map_or((text, None), |(path, query)| (path, Some(query)));
    let segment = |segment: &str| match segment.strip_prefix(':').map(|name| values.iter().find(|(key, _)| key == name))
    {
        Some(Some((_, value))) => value.clone(),
        _ => segment.to_owned(),
    };
    let path: Vec<String> = path.split('/').map(segment).collect();
    let query = query.map(|query| format!("?{query}")).unwrap_or_default();
    format!("{}{query}", path.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn urls_are_put_together() {
        let parts = json!({ "protocol": "https", "host": ["a", "b"], "port": "1", "path": ["x", ":id"],
            "query": [{ "key": "q", "value": "1" }, { "key": "off", "value": "2", "disabled": true }] });
        assert_eq!(from_parts(&parts), "https://a.b:1/x/:id?q=1");
        let url = json!({ "variable": [{ "key": "id", "value": "{{item}}" }],
            "query": [{ "key": "a", "value": "1", "disabled": true }, { "key": "b", "value": "2" }] });
        assert_eq!(with_path_variables("http://h/:id/:no?x=:id", &url), "http://h/{{item}}/:no?x=:id");
        assert_eq!(without_disabled("http://h/?a=1&b=2", &url), "http://h/?b=2");
        assert_eq!(without_disabled("http://h/?b=2&a=1", &url), "http://h/?b=2");
        assert_eq!(without_disabled("http://h/?a=1", &url), "http://h/");
    }
}
