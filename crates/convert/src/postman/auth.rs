//! Authentication of a collection, its folders and its requests: what a header, a parameter or a keyed hash can say.
//!
//! Secrets are read from `-e` where the collection has a variable for them. What Postman adds takes the place of a
//! header or a parameter of the same name. Signatures of requests (OAuth 1, AWS, Hawk, …) are refused with a note.

use serde_json::Value;

use super::Collection;
use super::pairs::{Pair, pairs};
use super::url::parameter;
use crate::credentials::{basic, with_user};
use crate::model::Request;
use crate::node::Node;
use crate::source;
use crate::template::Template;

const JWT: &str = "const jwt = (hash, header, payload, secret) => {
  const signed = `${b64encode(header, 'rawurl')}.${b64encode(payload, 'rawurl')}`;
  return `${signed}.${hmac(hash, secret, signed, 'base64rawurl')}`;
};";

/// The fields of one way to authenticate.
struct AuthFields(Vec<Pair>);

impl AuthFields {
    fn find(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|pair| pair.key == name).and_then(|pair| pair.value.as_deref())
    }

    fn of(&self, name: &str) -> &str {
        self.find(name).unwrap_or_default()
    }
}

impl Collection {
    /// Adds what a request proves itself by.
    pub(super) fn add_auth(&mut self, json: Option<&Node>, name: &str, request: &mut Request) {
        let Some(json) = json else { return };
        let kind = json.get("type").and_then(Node::text).unwrap_or("noauth");
        let fields = AuthFields(pairs(json.get(kind)));
        match kind {
            "noauth" | "inherit" => {}
            "bearer" if fields.of("token").is_empty() => self.no_token(name),
            "bearer" => {
                let mut value = Template::text("Bearer ");
                value.push(&self.template(fields.of("token")));
                set_header(request, "Authorization", value);
            }
            "oauth2" => self.oauth2(&fields, name, request),
            "basic" => {
                let (user, password) = (self.template(fields.of("username")), self.template(fields.of("password")));
                let value = basic(&user, &password);
                self.needs_base64 |= value.as_text().is_none();
                set_header(request, "Authorization", value);
            }
            "apikey" if fields.of("key").is_empty() => self.notes.add(name, "the API key has no name; it is left out"),
            "apikey" => {
                let (key, value) = (fields.of("key"), self.template(fields.of("value")));
                match fields.of("in") {
                    "query" => set_parameter(request, key, &value),
                    _ => set_header(request, key, value),
                }
            }
            "jwt" => self.jwt(&fields, name, request),
            "digest" | "ntlm" => {
                let (user, password) = (self.template(fields.of("username")), self.template(fields.of("password")));
                request.params.push((String::from("auth"), source::text(kind)));
                request.url = with_user(&request.url, &user, &password);
                let unused = fields.0.iter().filter(|pair| !["username", "password"].contains(&pair.key.as_str()));
                for pair in unused.filter(|pair| pair.value.as_deref().is_some_and(|value| !value.is_empty())) {
                    self.notes.add(name, format!("{} of {kind} authentication comes from the server here", pair.key));
                }
            }
            other => {
                self.notes.add(name, format!("authentication by '{}' is left out", other.escape_debug()));
            }
        }
    }

    fn no_token(&mut self, name: &str) {
        self.notes.add(name, "no token is in the collection: set the header Authorization");
    }

    fn oauth2(&mut self, fields: &AuthFields, name: &str, request: &mut Request) {
        if fields.of("accessToken").is_empty() {
            return self.no_token(name);
        }
        let token = self.template(fields.of("accessToken"));
        match (fields.of("tokenType"), fields.of("addTokenTo")) {
            ("mac", _) => self.notes.add(name, "an OAuth 2 token of the type 'mac' is left out"),
            (_, "queryParams") => set_parameter(request, "access_token", &token),
            _ => {
                let mut value = match fields.find("headerPrefix").map(str::trim) {
                    None => Template::text("Bearer "),
                    Some("") => Template::default(),
                    Some(prefix) => self.template(&format!("{prefix} ")),
                };
                value.push(&token);
                set_header(request, "Authorization", value);
            }
        }
    }

    /// A token that is signed with a shared secret (RFC 7519).
    fn jwt(&mut self, fields: &AuthFields, name: &str, request: &mut Request) {
        let algorithm = fields.find("algorithm").unwrap_or("HS256");
        let hash = match algorithm {
            "HS256" => "sha256",
            "HS384" => "sha384",
            "HS512" => "sha512",
            other => {
                let other = other.escape_debug();
                return self.notes.add(name, format!("authentication by a JWT that is signed by {other} is left out"));
            }
        };
        let mut header = serde_json::from_str::<Value>(fields.of("header")).ok().filter(Value::is_object);
        let header = header.get_or_insert_with(|| Value::Object(serde_json::Map::new()));
        header["alg"] = Value::from(algorithm);
        let payload = self.template(fields.of("payload"));
        let compact = payload.as_text().and_then(|text| serde_json::from_str::<Value>(text).ok());
        let payload = match compact {
            Some(json) => source::text(&json.to_string()),
            None => format!("JSON.stringify(JSON.parse({}))", payload.expression()),
        };
        let secret = self.template(fields.of("secret")).expression();
        let is_base64 = fields.find("isSecretBase64Encoded") == Some("true");
        let secret = if is_base64 { format!("b64decode({secret})") } else { secret };
        let token = Template::code(format!(
            "jwt({}, {}, {payload}, {secret})",
            source::text(hash),
            source::text(&header.to_string())
        ));
        self.needs_base64 = true;
        self.imports.insert(String::from("import { hmac } from 'k6/crypto';"));
        if is_base64 {
            self.imports.insert(String::from("import { b64decode } from 'k6/encoding';"));
        }
        if !self.init.iter().any(|line| line == JWT) {
            self.init.push(JWT.to_owned());
        }
        match fields.of("addTokenTo") {
            "queryParam" => set_parameter(request, fields.find("queryParamKey").unwrap_or("token"), &token),
            _ => {
                let prefix = fields.find("headerPrefix").unwrap_or("Bearer").trim();
                let mut value = Template::text(if prefix.is_empty() { String::new() } else { format!("{prefix} ") });
                value.push(&token);
                set_header(request, "Authorization", value);
            }
        }
    }
}

fn set_header(request: &mut Request, name: &str, value: Template) {
    request.headers.retain(|(known, _)| !known.eq_ignore_ascii_case(name));
    request.headers.push((name.to_owned(), value));
}

/// A parameter of the query takes the place of one of its name.
fn set_parameter(request: &mut Request, name: &str, value: &Template) {
    let name = parameter(name, true);
    if let Some(url) = request.url.as_text()
        && let Some((path, query)) = url.split_once('?')
    {
        let kept = query.split('&').filter(|pair| pair.split('=').next() != Some(name.as_str()));
        let kept: Vec<&str> = kept.collect();
        let mark = if kept.is_empty() { "" } else { "?" };
        request.url = Template::text(format!("{path}{mark}{}", kept.join("&")));
    }
    request.url.push_text(if request.url.has_text('?') { "&" } else { "?" });
    request.url.push_text(&format!("{name}="));
    let value = value.with_pieces(|text| parameter(text, false), |code| format!("encodeURIComponent({code})"));
    request.url.push(&value);
}
