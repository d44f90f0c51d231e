//! Authentication of a collection, its folders and its requests: what a header or a parameter can say.
//!
//! Secrets are read from `-e` where the collection has a variable for them. Signatures (OAuth 1, AWS, Hawk, …) are
//! refused with a note.

use serde_json::Value;

use super::{Collection, pairs};
use crate::model::Request;
use crate::template::Template;

impl Collection {
    /// Adds what a request proves itself by.
    pub(super) fn add_auth(&mut self, json: Option<&Value>, name: &str, request: &mut Request) {
        let Some(json) = json else { return };
        let kind = json.get("type").and_then(Value::as_str).unwrap_or("noauth");
        let fields = pairs(json.get(kind));
        let field = |key: &str| {
            fields.iter().find(|(known, _)| known == key).map(|(_, value)| value.clone()).unwrap_or_default()
        };
        let is_given = |name: &str| request.headers.iter().any(|(known, _)| known.eq_ignore_ascii_case(name));
        match kind {
            "noauth" | "inherit" => {}
            "bearer" | "oauth2" if !is_given("authorization") => {
                let token = field(if kind == "bearer" { "token" } else { "accessToken" });
                if token.is_empty() {
                    self.notes.add(name, "no token is in the collection: set the header Authorization");
                    return;
                }
                let mut value = Template::text("Bearer ");
                value.push(&self.template(&token));
                request.headers.push((String::from("Authorization"), value));
            }
            "basic" if !is_given("authorization") => {
                let mut pair = self.template(&field("username"));
                pair.push_text(":");
                pair.push(&self.template(&field("password")));
                request.headers.push((String::from("Authorization"), basic(&pair)));
                self.needs_base64 |= pair.as_text().is_none();
            }
            "bearer" | "oauth2" | "basic" => {}
            "apikey" => {
                let (key, value) = (field("key"), self.template(&field("value")));
                match field("in").as_str() {
                    "query" => {
                        let has_query = request.url.as_text().is_some_and(|url| url.contains('?'));
                        request.url.push_text(if has_query { "&" } else { "?" });
                        request.url.push_text(&format!("{key}="));
                        request.url.push(&value);
                    }
                    _ if !key.is_empty() && !is_given(&key) => request.headers.push((key, value)),
                    _ => {}
                }
            }
            "digest" | "ntlm" => {
                let (user, password) = (self.template(&field("username")), self.template(&field("password")));
                request.params.push((String::from("auth"), crate::source::text(kind)));
                request.url = with_user(&request.url, &user, &password);
            }
            other => self.notes.add(name, format!("authentication by '{}' is left out", other.escape_debug())),
        }
    }
}

/// `Basic …`, computed now where everything is known.
fn basic(pair: &Template) -> Template {
    match pair.as_text() {
        Some(text) => Template::text(format!("Basic {}", base64_simd::STANDARD.encode_to_string(text))),
        None => {
            let mut value = Template::text("Basic ");
            value.push_code(&format!("b64encode({})", pair.expression()));
            value
        }
    }
}

/// Name and password in the URL, where k6 reads them.
fn with_user(url: &Template, user: &Template, password: &Template) -> Template {
    let Some(at) = url.leading_text().find("://") else { return url.clone() };
    let escaped = |template: &Template| {
        template.with_pieces(
            |text| percent_encoding::utf8_percent_encode(text, percent_encoding::NON_ALPHANUMERIC).to_string(),
            |code| format!("encodeURIComponent({code})"),
        )
    };
    let mut whole = Template::text(&url.leading_text()[..at + 3]);
    whole.push(&escaped(user));
    whole.push_text(":");
    whole.push(&escaped(password));
    whole.push_text("@");
    whole.push(&url.without_leading(at + 3));
    whole
}
