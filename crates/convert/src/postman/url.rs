//! URLs of a collection: a text, or its parts, with variables of the path, encoded as Postman encodes them.
//!
//! Of a URL in parts Postman reads the parts and not `raw`, so that `raw` is read only where there is no host. A value
//! keeps its escapes; only what cannot stand in a path or a query is escaped.

use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};

use super::pairs::{pair, pairs};
use super::{Collection, Inherited};
use crate::node::Node;
use crate::template::Template;

/// What Postman escapes in a path.
const PATH: &AsciiSet = &CONTROLS.add(b' ').add(b'"').add(b'<').add(b'>').add(b'`').add(b'{').add(b'}');
/// And in a query.
const QUERY: &AsciiSet = &CONTROLS.add(b' ').add(b'"').add(b'<').add(b'>').add(b'\'');
/// In a value of a query.
const VALUE: &AsciiSet = &QUERY.add(b'&').add(b'#');
/// In a name of a query.
const NAME: &AsciiSet = &VALUE.add(b'=');

/// A name or a value of a query.
pub fn parameter(text: &str, is_name: bool) -> String {
    utf8_percent_encode(text, if is_name { NAME } else { VALUE }).to_string()
}

impl Collection {
    /// A URL; empty when there is none.
    pub(super) fn url(&mut self, json: Option<&Node>, above: &Inherited) -> Template {
        let Some(json) = json else { return Template::default() };
        let text = match json.text() {
            Some(text) => text.to_owned(),
            None => from_parts(json).unwrap_or_else(|| with_path_variables(&without_disabled(json), json)),
        };
        let text = text.trim();
        let text = text.split('#').next().unwrap_or_default();
        if text.is_empty() {
            return Template::default();
        }
        let has_variable_scheme = text.starts_with("{{") && !self.variables.begins_without_scheme(text);
        let whole =
            if has_variable_scheme || text.contains("://") { text.to_owned() } else { format!("http://{text}") };
        let (path, query) = whole.split_once('?').map_or((&whole[..], None), |(path, query)| (path, Some(query)));
        let encodes = !above.is("disableUrlEncoding");
        let mut url = self.encoded(path, |text| in_path(text, encodes), true);
        if let Some(query) = query {
            url.push_text("?");
            url.push(&self.encoded(query, |text| in_query(text, encodes), false));
        }
        url
    }

    /// Values of variables are escaped too, where the collection has one that needs it.
    fn encoded(&mut self, text: &str, encode: impl Fn(&str) -> String, is_path: bool) -> Template {
        let template = self.template(text);
        template.with_pieces(encode, |code| {
            let value = self.variables.value_in_script(code).unwrap_or_default();
            let mut code = code.to_owned();
            if is_path && has_bare_percent(value) {
                code.push_str(".replace(/%(?![0-9A-Fa-f]{2})/g, '%25')");
            }
            if value.contains(|c: char| !c.is_ascii_graphic() || "\"<>`{}".contains(c)) {
                let set = if is_path { "\"<>`{}" } else { "\"<>" };
                code.push_str(&format!(".replace(/[{set}]|[^!-~]+/g, encodeURIComponent)"));
            }
            code
        })
    }
}

fn has_bare_percent(text: &str) -> bool {
    let is_escape =
        |at: usize| text.get(at + 1..at + 3).is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()));
    text.match_indices('%').any(|(at, _)| !is_escape(at))
}

fn in_path(text: &str, encodes: bool) -> String {
    if !encodes {
        return text.replace(' ', "%20");
    }
    // The authority has none of these.
    let encoded = utf8_percent_encode(text, PATH).to_string().replace('\\', "/");
    // Postman sends a bare percent sign; k6 refuses it in a path.
    let mut out = String::with_capacity(encoded.len());
    for (at, piece) in encoded.split('%').enumerate() {
        let is_escape = piece.len() >= 2 && piece.bytes().take(2).all(|byte| byte.is_ascii_hexdigit());
        out.push_str(match (at, is_escape) {
            (0, _) => "",
            (_, true) => "%",
            (_, false) => "%25",
        });
        out.push_str(piece);
    }
    out
}

fn in_query(text: &str, encodes: bool) -> String {
    match encodes {
        true => utf8_percent_encode(text, QUERY).to_string(),
        false => text.replace(' ', "%20"),
    }
}

/// `raw` without the parameters that are switched off: some exports have them there.
fn without_disabled(json: &Node) -> String {
    let mut text = json.text_of("raw").to_owned();
    for item in json.items_of("query").iter().filter(|item| item.is("disabled")) {
        let pair = format!("{}={}", item.text_of("key"), item.text_of("value"));
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
    // It says the same again.
    json.get("query").into_iter().for_each(Node::settle);
    text.replace("?&", "?").trim_end_matches('?').to_owned()
}

/// The parts, joined; nothing without a host.
fn from_parts(json: &Node) -> Option<String> {
    let joined = |key: &str, separator: &str| {
        let part = |part: &Node| part.shown().or_else(|| part.get("value").and_then(Node::shown)).unwrap_or_default();
        json.get(key).map_or(String::new(), |value| match value.is_list() {
            true => value.items().iter().map(part).collect::<Vec<_>>().join(separator),
            false => value.shown().unwrap_or_default(),
        })
    };
    let host = joined("host", ".");
    if host.is_empty() {
        return None;
    }
    let protocol = joined("protocol", "");
    let protocol = protocol.trim_end_matches("://").trim_end_matches(':');
    let scheme = if protocol.is_empty() { String::new() } else { format!("{protocol}://") };
    let port = joined("port", "");
    let port = if port.is_empty() { String::new() } else { format!(":{port}") };
    let path = with_path_variables(joined("path", "/").trim_start_matches('/'), json);
    let query =
        json.get("query").map_or(String::new(), |query| query.text().map_or_else(|| of_pairs(query), str::to_owned));
    let query = if query.is_empty() { String::new() } else { format!("?{query}") };
    Some(format!("{scheme}{host}{port}/{path}{query}"))
}

/// Marks of variables stay as they are.
fn of_pairs(query: &Node) -> String {
    let escaped = |text: &str, is_name: bool| {
        let replaced = text.replace('&', "%26").replace('#', "%23");
        if is_name { replaced.replace('=', "%3D") } else { replaced }
    };
    let pairs = pairs(Some(query)).into_iter().map(|pair| match &pair.value {
        Some(value) => format!("{}={}", escaped(&pair.key, true), escaped(value, false)),
        None => escaped(&pair.key, true),
    });
    pairs.collect::<Vec<_>>().join("&")
}

/// `/:id` with the value of the variable.
fn with_path_variables(text: &str, json: &Node) -> String {
    let values: Vec<_> = json.items_of("variable").iter().map(pair).collect();
    let (path, query) = text.split_once('?').map_or((text, None), |(path, query)| (path, Some(query)));
    let segment = |segment: &str| {
        let name = segment.strip_prefix(':').filter(|name| !name.is_empty());
        let found = name.and_then(|name| values.iter().find(|pair| pair.key == name));
        let value = found.and_then(|pair| pair.value.clone()).filter(|value| !value.is_empty());
        value.unwrap_or_else(|| segment.to_owned())
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
        let parts = Node::from(json!({ "raw": "http://other/", "protocol": "https", "host": ["a", "b"], "port": "1",
            "path": ["x", ":id", ":no"],
            "variable": [{ "key": "id", "value": "{{item}}" }, { "key": "no", "value": "" }],
            "query": [{ "key": "q", "value": "1&2=#" }, { "key": "off", "value": "2", "disabled": true },
                { "key": "k=", "value": null }, { "key": "e", "value": "" }] }));
        assert_eq!(from_parts(&parts).as_deref(), Some("https://a.b:1/x/{{item}}/:no?q=1%262=%23&k%3D&e="));
        let raw = Node::from(json!({ "raw": "http://h/:id?x=:id", "variable": [{ "id": "id", "value": 7 }] }));
        assert_eq!(from_parts(&raw), None);
        assert_eq!(with_path_variables(raw.text_of("raw"), &raw), "http://h/7?x=:id");
        for (raw, expected) in [
            ("http://h/?a=1&b=2", "http://h/?b=2"),
            ("http://h/?b=2&a=1", "http://h/?b=2"),
            ("http://h/?a=1", "http://h/"),
        ] {
            let off = json!({ "key": "a", "value": "1", "disabled": true });
            let url = Node::from(json!({ "raw": raw, "query": [off, { "key": "b", "value": "2" }] }));
            assert_eq!(without_disabled(&url), expected);
        }
    }

    /// What newman 6.2 sends.
    #[test]
    fn what_a_url_cannot_hold_is_escaped() {
        assert_eq!(in_path("/p/\"<>`{}|\\^[]'ü%41%", true), "/p/%22%3C%3E%60%7B%7D|/^[]'%C3%BC%41%25");
        assert_eq!(in_query("a=b\"<>`{}|\\^[]'\n%", true), "a=b%22%3C%3E`{}|\\^[]%27%0A%");
        assert_eq!(parameter("v&1 =+#/?é%'()", false), "v%261%20=+%23/?%C3%A9%%27()");
        assert_eq!(parameter("a=b", true), "a%3Db");
    }
}
