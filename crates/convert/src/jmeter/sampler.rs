//! HTTP samplers as requests, with the defaults of their scope.

use super::plan::Plan;
use super::scope::Scope;
use super::xml::Element;
use crate::model::{Body, Content, Part, Request};
use crate::source;
use crate::template::Template;

impl Plan<'_> {
    /// The request of a sampler.
    pub(super) fn request(&mut self, sampler: &Element, scope: &Scope) -> Request {
        let text = |name: &str| {
            let own = sampler.text_of(name).trim();
            if own.is_empty() { scope.standard(name) } else { own.to_owned() }
        };
        let method = text("HTTPSampler.method");
        let method = if method.is_empty() { "GET" } else { &method };
        let url = self.url(&text);
        let mut request = Request::new(method, url);
        let name = sampler.attribute("testname");
        request.params.push((String::from("tags"), format!("{{ name: {} }}", source::text(name))));
        let follows = sampler.is("HTTPSampler.follow_redirects") || sampler.is("HTTPSampler.auto_redirects");
        if !follows && sampler.property("HTTPSampler.follow_redirects").is_some() {
            request.params.push((String::from("redirects"), String::from("0")));
        }
        let timeout = self.variables.number(&text("HTTPSampler.response_timeout")).filter(|ms| *ms > 0);
        request.params.extend(timeout.map(|ms| (String::from("timeout"), format!("'{ms}ms'"))));
        if sampler.is("HTTPSampler.image_parser") {
            self.notes
                .add(format!("line {}", sampler.line), "embedded resources are not loaded: record them, or name them");
        }
        for (name, value) in &scope.headers {
            let value = self.variables.template(value);
            request.headers.retain(|(known, _)| !known.eq_ignore_ascii_case(name));
            request.headers.push((name.clone(), value));
        }
        self.add_arguments(sampler, scope, &mut request);
        request
    }

    fn url(&mut self, text: &impl Fn(&str) -> String) -> Template {
        let path = text("HTTPSampler.path");
        if path.starts_with("http://") || path.starts_with("https://") {
            return self.variables.template(&path.replace(' ', "%20"));
        }
        let (protocol, domain, port) =
            (text("HTTPSampler.protocol"), text("HTTPSampler.domain"), text("HTTPSampler.port"));
        let protocol = if protocol.is_empty() { "http" } else { protocol.trim_end_matches("://") };
        let is_standard = matches!((protocol, port.as_str()), (_, "") | ("http", "80") | ("https", "443"));
        let port = if is_standard { String::new() } else { format!(":{port}") };
        let domain = if domain.is_empty() { String::from("localhost") } else { domain };
        let slash = if self.variables.begins_with(&path, '/') || path.is_empty() { "" } else { "/" };
        let path = if path.is_empty() { "/" } else { &path };
        self.variables.template(&format!("{protocol}://{domain}{port}{slash}{}", path.replace(' ', "%20")))
    }

    /// Parameters: in the query, or a form, or a raw body.
    fn add_arguments(&mut self, sampler: &Element, scope: &Scope, request: &mut Request) {
        let holder = sampler.property("HTTPsampler.Arguments");
        let own: Vec<&Element> = holder.map_or(&[][..], |holder| holder.list("Arguments.arguments")).iter().collect();
        let arguments: Vec<&Element> = scope.arguments.iter().copied().chain(own).collect();
        let files = sampler.property("HTTPsampler.Files").map_or(&[][..], |files| files.list("HTTPFileArgs.files"));
        let has_body = !matches!(request.method.as_str(), "GET" | "HEAD" | "OPTIONS");
        if sampler.is("HTTPSampler.postBodyRaw") {
            let mut body = Template::default();
            arguments
                .iter()
                .for_each(|argument| body.push(&self.variables.template(argument.text_of("Argument.value"))));
            request.body = if body.is_empty() { Body::None } else { Body::Text(body) };
            return;
        }
        let place = format!("line {}", sampler.line);
        for file in files {
            self.notes.add(
                place.as_str(),
                format!("the file {} is opened from where the script is", file.text_of("File.path")),
            );
        }
        if let ([file], true) = (files, arguments.is_empty())
            && file.text_of("File.paramname").is_empty()
        {
            request.body = Body::File(file.text_of("File.path").to_owned());
            return;
        }
        if has_body && (sampler.is("HTTPSampler.DO_MULTIPART_POST") || !files.is_empty()) {
            let mut parts: Vec<Part> = Vec::new();
            for argument in arguments {
                let content = Content::Text(self.variables.template(argument.text_of("Argument.value")));
                parts.push(Part { name: argument.text_of("Argument.name").to_owned(), content, ..Part::default() });
            }
            parts.extend(files.iter().map(|file| Part {
                name: file.text_of("File.paramname").to_owned(),
                content: Content::File(file.text_of("File.path").to_owned()),
                filename: None,
                kind: Some(file.text_of("File.mimetype").to_owned()).filter(|kind| !kind.is_empty()),
            }));
            request.body = Body::Form(parts);
            return;
        }
        let pairs = self.pairs(&arguments);
        match (pairs.is_empty(), has_body) {
            (true, _) => {}
            (false, true) => {
                request.body = Body::Text(pairs);
                if request.header("content-type").is_none() {
                    let kind = Template::text("application/x-www-form-urlencoded");
                    request.headers.push((String::from("Content-Type"), kind));
                }
            }
            (false, false) => {
                let has_query = request.url.with_pieces(str::to_owned, |_| String::new());
                request.url.push_text(if has_query.leading_text().contains('?') { "&" } else { "?" });
                request.url.push(&pairs);
            }
        }
    }

    fn pairs(&mut self, arguments: &[&Element]) -> Template {
        let mut pairs = Template::default();
        for argument in arguments {
            if !pairs.is_empty() {
                pairs.push_text("&");
            }
            let encodes = argument.is("HTTPArgument.always_encode");
            let mut add = |template: &Template| match encodes {
                true => pairs.push(&template.with_pieces(escaped, |code| format!("encodeURIComponent({code})"))),
                false => pairs.push(template),
            };
            let name = argument.text_of("Argument.name");
            add(&self.variables.template(name));
            if argument.text_of("HTTPArgument.use_equals").trim() != "false"
                || !argument.text_of("Argument.value").is_empty()
            {
                pairs.push_text("=");
                let value = self.variables.template(argument.text_of("Argument.value"));
                match encodes {
                    true => pairs.push(&value.with_pieces(escaped, |code| format!("encodeURIComponent({code})"))),
                    false => pairs.push(&value),
                }
            }
        }
        pairs
    }
}

fn escaped(text: &str) -> String {
    form_urlencoded::byte_serialize(text.as_bytes()).collect()
}
