//! How requests of a description prove who asks: the first of the ways that it lists, with secrets from `-e`.

use super::Description;
use super::references::Target;
use super::style::escaped;
use crate::identifier::identifier;
use crate::model::Request;
use crate::node::Node;
use crate::template::Template;

impl<'d> Description<'d> {
    /// The first way to prove who asks.
    pub(super) fn add_security(&mut self, operation: &'d Node, place: &str, request: &mut Request) {
        let wanted = operation.get("security").or_else(|| self.root().get("security"));
        let first = wanted.and_then(|list| list.items().first());
        let names: Vec<&str> = first.into_iter().flat_map(Node::fields).map(|(name, _)| name).collect();
        for name in names {
            let scheme = self.root().at("/components/securitySchemes").and_then(|schemes| schemes.get(name));
            let Some(Target::Found(scheme, _)) = scheme.map(|scheme| self.document.follow(scheme)) else {
                self.notes.add(place, format!("the security scheme {name} is not described"));
                continue;
            };
            if self.add_scheme(scheme, name, place, request) && !self.secrets.iter().any(|known| known == name) {
                self.secrets.push(name.to_owned());
            }
        }
    }

    /// Whether it could be added.
    fn add_scheme(&mut self, scheme: &Node, name: &str, place: &str, request: &mut Request) -> bool {
        let secret = identifier(name);
        let header = |before: &str, code: &str| {
            let mut value = Template::text(before);
            value.push_code(code);
            value
        };
        let (kind, own) = (scheme.text_of("type"), scheme.text_of("name"));
        match (kind, scheme.text_of("scheme").to_ascii_lowercase().as_str(), scheme.text_of("in")) {
            ("http", "basic", _) => {
                self.needs_base64 = true;
                let value = header("Basic ", &format!("b64encode({secret})"));
                request.headers.push((String::from("Authorization"), value));
            }
            ("http", "bearer", _) | ("oauth2" | "openIdConnect", ..) => {
                request.headers.push((String::from("Authorization"), header("Bearer ", &secret)));
            }
            ("apiKey", _, "header") => request.headers.push((own.to_owned(), Template::code(&secret))),
            ("apiKey", _, "cookie") => {
                request.headers.push((String::from("Cookie"), header(&format!("{own}="), &secret)));
            }
            ("apiKey", _, "query") => {
                let mark = if request.url.has_text('?') { "&" } else { "?" };
                request.url.push_text(&format!("{mark}{}=", escaped(own)));
                request.url.push_code(&format!("encodeURIComponent({secret})"));
            }
            (kind, scheme, _) => {
                self.notes.add(
                    place,
                    format!("the security scheme {name} ({}) has no counterpart", format!("{kind} {scheme}").trim()),
                );
                return false;
            }
        }
        true
    }
}
