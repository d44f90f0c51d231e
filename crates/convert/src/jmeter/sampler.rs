//! HTTP samplers as requests, with the defaults of their scope.

use super::expressions::PlanVariables;
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
        let address = address(&self.variables, &text);
        let mut request = Request::new(method, self.variables.template(&address.replace(' ', "%20")));
        let name = sampler.attribute("testname");
        request.params.push((String::from("tags"), format!("{{ name: {} }}", source::text(name))));
        let has_word = sampler.property("HTTPSampler.follow_redirects").is_some();
        let follows = [sampler.is("HTTPSampler.follow_redirects"), sampler.is("HTTPSampler.auto_redirects")];
        if has_word && !follows.contains(&true) {
            request.params.push((String::from("redirects"), String::from("0")));
        }
        let timeout = self.variables.number(&text("HTTPSampler.response_timeout")).filter(|ms| *ms > 0);
        request.params.extend(timeout.map(|ms| (String::from("timeout"), format!("'{ms}ms'"))));
        let keeps = text("HTTPSampler.use_keepalive") != "false";
        self.keep_alive.push(keeps);
        if !keeps {
            request.headers.push((String::from("Connection"), Template::text("close")));
        }
        self.name_options(sampler, &text);
        for (name, value) in &scope.headers {
            let value = self.variables.template(value);
            request.headers.retain(|(known, _)| !known.eq_ignore_ascii_case(name));
            request.headers.push((name.clone(), value));
        }
        self.add_credentials(&self.variables.resolved(&address), scope, &mut request);
        self.add_arguments(sampler, scope, &mut request);
        request
    }

    /// Options of a sampler that a script cannot obey.
    fn name_options(&mut self, sampler: &Element, text: &impl Fn(&str) -> String) {
        let place = format!("line {}", sampler.line);
        let mut say = |text: String| self.notes.add(place.as_str(), text);
        if text("HTTPSampler.image_parser") == "true" {
            say(String::from("embedded resources are not loaded: record them, or name them"));
        }
        if text("HTTPSampler.md5") == "true" {
            say(String::from("the answer is not replaced by its MD5 hash"));
        }
        match text("HTTPSampler.connect_timeout") {
            none if none.is_empty() || none == "0" => {}
            ms => {
                say(format!("the timeout of connecting, {ms} ms, is left out: 'timeout' is that of the whole request"))
            }
        }
        let encoding = text("HTTPSampler.contentEncoding");
        if !encoding.is_empty() && !encoding.eq_ignore_ascii_case("utf-8") {
            say(format!("texts are sent in UTF-8, not in {}", encoding.escape_debug()));
        }
        let proxy = text("HTTPSampler.proxyHost");
        if !proxy.is_empty() {
            say(format!("the proxy {} is left out: set the environment variable HTTP_PROXY", proxy.escape_debug()));
        }
        let (source, kind) = (text("HTTPSampler.ipSource"), text("HTTPSampler.ipSourceType"));
        if !source.is_empty() {
            say(format!("the address {source} (type {kind}) is left out: onrush run --local-ips names addresses"));
        }
    }

    /// Parameters: in the query, or a form, or a raw body.
    fn add_arguments(&mut self, sampler: &Element, scope: &Scope, request: &mut Request) {
        let holder = sampler.property("HTTPsampler.Arguments");
        let files = sampler.property("HTTPsampler.Files");
        holder.into_iter().chain(files).for_each(Element::visit);
        let own: Vec<&Element> = holder.map_or(&[][..], |holder| holder.list("Arguments.arguments")).iter().collect();
        let arguments: Vec<&Element> = scope.arguments.iter().copied().chain(own).collect();
        let files = files.map_or(&[][..], |files| files.list("HTTPFileArgs.files"));
        let is_form = sampler.is("HTTPSampler.DO_MULTIPART_POST");
        let is_of_browsers = sampler.is("HTTPSampler.BROWSER_COMPATIBLE_MULTIPART");
        let has_body = !matches!(request.method.as_str(), "GET" | "HEAD" | "OPTIONS");
        if sampler.is("HTTPSampler.postBodyRaw") {
            let mut body = Template::default();
            arguments
                .iter()
                .for_each(|argument| body.push(&self.variables.template(argument.text_of("Argument.value"))));
            request.body = if body.is_empty() { Body::None } else { Body::Text(body) };
            // A raw body has neither names nor files.
            holder.into_iter().chain(scope.arguments.iter().copied()).for_each(Element::settle);
            self.leave_out(files, "beside a raw body");
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
            let kind = file.text_of("File.mimetype");
            if request.header("content-type").is_none() && !kind.is_empty() {
                request.headers.push((String::from("Content-Type"), Template::text(kind)));
            }
            return;
        }
        if has_body && (is_form || !files.is_empty()) {
            if !is_of_browsers && !arguments.is_empty() {
                self.notes.add(place, "text parts of a form have no Content-Type, as browsers send them");
            }
            request.body = Body::Form(self.parts(&arguments, files));
            return;
        }
        self.leave_out(files, "of a request without a body");
        self.add_pairs(&arguments, has_body, request);
    }

    /// In the query, or a form.
    fn add_pairs(&mut self, arguments: &[&Element], has_body: bool, request: &mut Request) {
        let pairs = self.pairs(arguments);
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
                request.url.push_text(if request.url.has_text('?') { "&" } else { "?" });
                request.url.push(&pairs);
            }
        }
    }

    fn leave_out(&mut self, files: &[Element], which: &str) {
        for file in files {
            file.settle();
            self.notes.add(format!("line {}", file.line), format!("a file {which} is left out"));
        }
    }

    fn parts(&mut self, arguments: &[&Element], files: &[Element]) -> Vec<Part> {
        let given = |element: &Element, name: &str| {
            Some(element.text_of(name).to_owned()).filter(|text| !text.trim().is_empty())
        };
        let mut parts: Vec<Part> = Vec::new();
        for argument in arguments {
            let content = Content::Text(self.variables.template(argument.text_of("Argument.value")));
            // They are of a query.
            let _ = (argument.is("HTTPArgument.always_encode"), argument.is("HTTPArgument.use_equals"));
            let name = argument.text_of("Argument.name").to_owned();
            let kind = given(argument, "HTTPArgument.content_type").filter(|kind| kind != "text/plain");
            parts.push(Part { name, content, filename: None, kind });
        }
        parts.extend(files.iter().map(|file| Part {
            name: file.text_of("File.paramname").to_owned(),
            content: Content::File(file.text_of("File.path").to_owned()),
            filename: None,
            kind: given(file, "File.mimetype"),
        }));
        parts
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
            argument.text_of("HTTPArgument.content_type");
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

/// Properties that requests take from their defaults.
pub const OF_DEFAULTS: [&str; 14] = [
    "method",
    "domain",
    "port",
    "protocol",
    "path",
    "contentEncoding",
    "response_timeout",
    "connect_timeout",
    "use_keepalive",
    "image_parser",
    "md5",
    "ipSource",
    "ipSourceType",
    "proxyHost",
];

/// The URL of a sampler, as a text of the plan.
fn address(variables: &PlanVariables, text: &impl Fn(&str) -> String) -> String {
    let (path, protocol) = (text("HTTPSampler.path"), text("HTTPSampler.protocol"));
    let (domain, port) = (text("HTTPSampler.domain"), text("HTTPSampler.port"));
    if path.starts_with("http://") || path.starts_with("https://") {
        return path;
    }
    let protocol = if protocol.is_empty() { "http" } else { protocol.trim_end_matches("://") };
    let is_standard = matches!((protocol, port.as_str()), (_, "") | ("http", "80") | ("https", "443"));
    let port = if is_standard { String::new() } else { format!(":{port}") };
    let domain = if domain.is_empty() { String::from("localhost") } else { domain };
    let slash = if variables.begins_with(&path, '/') || path.is_empty() { "" } else { "/" };
    let path = if path.is_empty() { "/" } else { &path };
    format!("{protocol}://{domain}{port}{slash}{path}")
}

fn escaped(text: &str) -> String {
    form_urlencoded::byte_serialize(text.as_bytes()).collect()
}
