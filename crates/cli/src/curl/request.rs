//! The request that a command line stands for, as curl would send it: method, URL, headers, body, and the options of
//! the test that say how connections are made.
//!
//! Differs from curl on purpose: User-Agent is Onrush's unless one is given; header names are sent in their usual case,
//! and those of one name as one, joined by commas (RFC 9110 section 5.3); a method that defines a body says
//! `Content-Length: 0` when there is none; no `Expect: 100-continue`. Refuses what curl would quietly drop, such as a
//! header without a colon.

use report::visible;
use serde_json::json;
use units::Span;
use wire::Url;

use super::address::Address;
use super::body::{self, Body, Data};
use super::flag::Act;
use super::form;
use super::headers::{Headers, is_token};
use super::line::{Dialect, Given, Line};
use super::reach::Reach;
use convert::source;

/// A request, and how to reach its server.
#[derive(Debug, Default)]
pub struct Request {
    /// As it goes on the wire.
    pub method: String,
    /// With userinfo when there is one.
    pub url: String,
    /// In order, one of a name.
    pub headers: Vec<(String, String)>,
    /// What is sent.
    pub body: Body,
    /// Redirects to follow.
    pub redirects: u32,
    /// Of the whole request, in milliseconds.
    pub timeout_ms: Option<u64>,
    /// Digest authentication.
    pub digest: bool,
    /// HTTP/2 without TLS.
    pub prior_knowledge: bool,
    /// Options of the test: names and JavaScript.
    pub options: Vec<(String, String)>,
}

/// Redirects that curl follows with `-L`.
const CURLS_REDIRECTS: u32 = 50;

/// Everything of the flags that takes more than one of them to decide.
#[derive(Default)]
struct Draft<'a> {
    method: Option<&'a str>,
    head: bool,
    target: UrlChanges,
    headers: Headers,
    cookies: Vec<&'a str>,
    payload: Payload<'a>,
    redirects: Redirects,
    version: Option<&'a Given>,
    streams: Option<&'a Given>,
    reach: Reach<'a>,
    request: Request,
}

/// What flags change of the URL.
#[derive(Default)]
struct UrlChanges {
    queries: Vec<String>,
    user: Option<(String, String)>,
    path_as_is: bool,
    globoff: bool,
}

/// What is sent: one of the three. Data is a query instead with `-G`.
#[derive(Default)]
struct Payload<'a> {
    data: Data,
    form: Vec<&'a Given>,
    upload: Option<&'a str>,
    get: bool,
}

/// Where the answer leads elsewhere.
#[derive(Default)]
struct Redirects {
    follow: bool,
    max: Option<u32>,
}

impl Request {
    /// Puts the flags of a line together for its URL.
    pub fn of(line: &Line, url: &str, dialect: Dialect) -> Result<Request, String> {
        let mut draft = Draft::default();
        for given in &line.given {
            draft.take(given)?;
        }
        draft.finish(url, dialect)
    }
}

impl<'a> Draft<'a> {
    fn take(&mut self, given: &'a Given) -> Result<(), String> {
        let value = given.value.as_str();
        if let (true, Some(problem)) = (is_of_head(given.act), wire::field::problem_in(value)) {
            return Err(format!("{} '{}': {problem}", given.spelled, visible(value)));
        }
        match given.act {
            Act::Method => self.method = Some(token(given)?),
            Act::Header => self.headers.read(given)?,
            Act::Data | Act::DataRaw | Act::DataBinary | Act::DataUrlencode | Act::Json => {
                self.payload.data.add(given)?
            }
            Act::Form | Act::FormString => self.payload.form.push(given),
            Act::Get => self.payload.get = true,
            Act::Head => self.head = true,
            Act::Upload => self.payload.upload = Some(value),
            Act::UrlQuery => self.target.queries.push(match value.strip_prefix('+') {
                Some(raw) => raw.to_owned(),
                None => body::urlencoded(given)?,
            }),
            Act::User => self.target.user = Some(user(given)?),
            Act::Digest => self.request.digest = true,
            Act::Bearer => self.headers.standard("Authorization", format!("Bearer {value}")),
            Act::UserAgent => self.headers.standard("User-Agent", value.to_owned()),
            Act::Cookie => self.cookies.push(cookie(given)?),
            Act::Referer => self.headers.standard("Referer", referer(given)?.to_owned()),
            Act::Range => self.headers.standard("Range", format!("bytes={}", range(value))),
            Act::Compressed => self.headers.standard("Accept-Encoding", String::from("deflate, gzip, br, zstd")),
            Act::Location => self.redirects.follow = true,
            Act::MaxRedirects => self.redirects.max = Some(redirects(given)?),
            Act::MaxTime => self.request.timeout_ms = Some(seconds(given)?),
            Act::Insecure => self.option("insecureSkipTLSVerify", String::from("true")),
            Act::Addresses(policy) => self.option("dns", json_text(&json!({ "policy": policy }))),
            Act::UnixSocket | Act::AbstractUnixSocket => self.reach.unix_socket = Some(given),
            Act::Resolve | Act::ConnectTo => self.reach.connect.push(given),
            Act::Certificate => self.reach.certificate = Some(given),
            Act::Key => self.reach.key = Some(value),
            Act::TlsLowest(version) => self.reach.tls.push(("min".into(), source::text(version))),
            Act::TlsHighest => self.reach.tls.push(("max".into(), source::text(&tls_version(given)?))),
            Act::Http1 | Act::Http2 | Act::PriorKnowledge => self.version = Some(given),
            Act::Streams => self.streams = Some(given),
            Act::PathAsIs => self.target.path_as_is = true,
            Act::Globoff => self.target.globoff = true,
            _ => {}
        }
        Ok(())
    }

    fn option(&mut self, name: &str, expression: String) {
        self.request.options.retain(|(known, _)| known != name);
        self.request.options.push((name.to_owned(), expression));
    }

    fn finish(mut self, url: &str, dialect: Dialect) -> Result<Request, String> {
        self.refuse_two_bodies()?;
        let mut url = self.target.address(url, dialect)?;
        if let Some(query) = self.payload.take_query()? {
            // curl's data of -G takes the place of --url-query.
            self.target.queries = vec![query];
        }
        self.target.complete(&mut url);
        self.add_body(&mut url)?;
        let parsed = url.check()?;
        self.request.url = url.text();
        self.add_headers();
        let standard = match () {
            () if self.head => "HEAD",
            () if self.payload.upload.is_some() => "PUT",
            () if self.request.body.expression.is_some() => "POST",
            () => "GET",
        };
        self.request.method = self.method.unwrap_or(standard).to_owned();
        if self.redirects.follow {
            self.request.redirects = self.redirects.max.unwrap_or(CURLS_REDIRECTS);
        }
        self.choose_version(&parsed)?;
        for (name, expression) in self.reach.options(&parsed)? {
            self.option(name, expression);
        }
        Ok(self.request)
    }

    fn refuse_two_bodies(&self) -> Result<(), String> {
        let Payload { data, form, upload, get } = &self.payload;
        let data = !data.is_empty() && !get;
        let given = [("-d", data), ("-F", !form.is_empty()), ("-T", upload.is_some()), ("-I", self.head)];
        let given: Vec<&str> = given.iter().filter(|(_, is)| *is).map(|(name, _)| *name).collect();
        match given[..] {
            [one, other, ..] => Err(format!("{one} and {other}: each sets the method; leave one of them out")),
            _ => Ok(()),
        }
    }

    fn add_body(&mut self, url: &mut Address) -> Result<(), String> {
        let Some(body) = self.payload.body(url)? else { return Ok(()) };
        if let Some(kind) = body.content_type {
            self.headers.standard("Content-Type", kind.to_owned());
        }
        self.request.body = body;
        Ok(())
    }

    /// curl's own headers give way to those of `-H`.
    fn add_headers(&mut self) {
        let accept = if self.payload.data.is_json() { "application/json" } else { "*/*" };
        self.headers.standard("Accept", String::from(accept));
        if !self.cookies.is_empty() {
            self.headers.standard("Cookie", self.cookies.join(";"));
        }
        self.request.headers = std::mem::take(&mut self.headers).all();
    }

    /// The version of HTTP, as a request's param or an option of the test. Over TLS the server chooses unless told
    /// otherwise.
    fn choose_version(&mut self, url: &Url) -> Result<(), String> {
        let spelled = self.version.map_or("", |given| given.spelled.as_str());
        let act = self.version.map(|given| given.act);
        match act {
            Some(Act::Http1) if url.h2c => return Err(format!("{spelled}: h2c:// is HTTP/2; write http://")),
            Some(Act::Http1) => self.option("http2", String::from("false")),
            Some(Act::Http2) if !url.tls && !url.h2c => {
                return Err(format!(
                    "{spelled}: over http:// curl asks the server for an upgrade, which Onrush does not do; write \
                     --http2-prior-knowledge, or an https:// URL"
                ));
            }
            Some(Act::PriorKnowledge) => self.request.prior_knowledge = true,
            _ => {}
        }
        let is_http1 = act == Some(Act::Http1) || !url.tls && !url.h2c && act != Some(Act::PriorKnowledge);
        match self.streams {
            Some(given) if is_http1 => Err(format!(
                "{}: HTTP/1.1 has no streams; write an https:// URL, or --http2-prior-knowledge for http://",
                given.spelled
            )),
            _ => Ok(()),
        }
    }
}

impl UrlChanges {
    fn address(&self, url: &str, dialect: Dialect) -> Result<Address, String> {
        let mut url = Address::read(url, dialect == Dialect::Run || self.globoff)?;
        if !self.path_as_is {
            url.squash_dots();
        }
        Ok(url)
    }

    /// Adds queries and user to the address.
    fn complete(&self, url: &mut Address) {
        if !self.queries.is_empty() {
            url.add_query(&self.queries.join("&"));
        }
        if let Some((name, password)) = &self.user {
            url.set_user(name, password);
        }
    }
}

impl Payload<'_> {
    /// Data that `-G` puts into the URL.
    fn take_query(&mut self) -> Result<Option<String>, String> {
        let is_query = self.get && !self.data.is_empty();
        is_query.then(|| std::mem::take(&mut self.data).query()).transpose()
    }

    /// The body, if there is one. The name of an uploaded file may end the URL.
    fn body(&self, url: &mut Address) -> Result<Option<Body>, String> {
        Ok(Some(if let Some(path) = self.upload {
            url.end_with_name_of(path);
            body::upload(path)?
        } else if !self.form.is_empty() {
            form::body(&self.form)?
        } else if !self.data.is_empty() {
            self.data.body()?
        } else {
            return Ok(None);
        }))
    }
}

fn json_text(value: &serde_json::Value) -> String {
    let fields: Vec<_> = value.as_object().into_iter().flatten().collect();
    let fields: Vec<_> = fields
        .iter()
        .map(|(name, value)| ((*name).clone(), source::text(value.as_str().unwrap_or_default())))
        .collect();
    source::object(&fields, 2)
}

/// Whether the value goes into a line of the request head as it is. Names, passwords and headers have checks of their
/// own.
fn is_of_head(act: Act) -> bool {
    matches!(act, Act::Bearer | Act::UserAgent | Act::Cookie | Act::Referer | Act::Range)
}

fn token(given: &Given) -> Result<&str, String> {
    let value = given.value.as_str();
    match !value.is_empty() && value.bytes().all(is_token) {
        true => Ok(value),
        false => Err(format!("{} '{}': expected a method, as in PUT", given.spelled, visible(value))),
    }
}

fn user(given: &Given) -> Result<(String, String), String> {
    match given.value.split_once(':') {
        Some((name, password)) => Ok((name.to_owned(), password.to_owned())),
        None => Err(format!("{} {}: expected NAME:PASSWORD (Onrush does not ask for it)", given.spelled, given.value)),
    }
}

fn cookie(given: &Given) -> Result<&str, String> {
    match given.value.contains('=') {
        true => Ok(&given.value),
        false => {
            Err(format!("{} {}: cookies are not read from files; expected NAME=VALUE; …", given.spelled, given.value))
        }
    }
}

fn referer(given: &Given) -> Result<&str, String> {
    match given.value.ends_with(";auto") {
        true => Err(format!("{} {}: no header is added to redirects; leave ;auto out", given.spelled, given.value)),
        false => Ok(&given.value),
    }
}

/// A number alone is where the range begins.
fn range(value: &str) -> String {
    let digits = value.bytes().take_while(u8::is_ascii_digit).count();
    match value[..digits].parse::<u64>() {
        Ok(start) if !value.contains('-') => format!("{start}-"),
        _ => value.to_owned(),
    }
}

fn redirects(given: &Given) -> Result<u32, String> {
    match given.value.as_str() {
        // curl's word for no limit.
        "-1" => Ok(1_000_000),
        value => value.parse().map_err(|_| format!("{} {value}: expected a whole number", given.spelled)),
    }
}

fn seconds(given: &Given) -> Result<u64, String> {
    let time = Span::parse_seconds(&given.value).and_then(Span::to_duration);
    let seconds = time.map(|time| time.as_secs_f64()).filter(|s| (0.001..=1e6).contains(s));
    let seconds = seconds.ok_or_else(|| format!("{} {}: expected seconds, as in 2.5", given.spelled, given.value))?;
    Ok((seconds * 1e3).round() as u64)
}

fn tls_version(given: &Given) -> Result<String, String> {
    match given.value.as_str() {
        version @ ("1.0" | "1.1" | "1.2" | "1.3") => Ok(format!("tls{version}")),
        "default" => Ok(String::from("tls1.3")),
        other => Err(format!("{} {other}: expected 1.2 or 1.3", given.spelled)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use convert::shell;

    fn request(line: &str) -> Result<Request, String> {
        let line = Line::read(Dialect::Curl, shell::split(line).expect("a good line"));
        assert_eq!(line.problems, Vec::<String>::new());
        Request::of(&line, &line.words[0], Dialect::Curl)
    }

    fn shown(line: &str) -> String {
        let request = request(line).expect(line);
        let headers: Vec<String> = request.headers.iter().map(|(name, value)| format!("{name}={value}")).collect();
        format!("{} {} {}", request.method, request.url, headers.join("|"))
    }

    #[test]
    fn urls_are_curls() {
        for (line, url) in [
            ("h", "http://h/"),
            ("h:80/a/../b/./c/..#f", "http://h:80/b/"),
            ("--path-as-is h/a/../b", "http://h/a/../b"),
            ("HTTPS://h?q", "https://h/?q"),
            ("-G -d a=b -d c --data-urlencode 'd=e f' h/?q=1", "http://h/?q=1&a=b&c&d=e+f"),
            ("--url-query 'a=b c' --url-query +d=%20 h", "http://h/?a=b+c&d=%20"),
            ("--url-query c=d 'h/?a=b&'", "http://h/?a=b&c=d"),
            ("--url-query c=d 'h/?'", "http://h/?c=d"),
            ("--url-query '&c=d' h/?a", "http://h/?a&&c=d"),
            ("--url-query '=v w' h/?a#f", "http://h/?a&v+w"),
            ("--url-query + 'h/?a'", "http://h/?a&"),
            ("-G -d b=c --url-query x=y 'h/?a&'", "http://h/?a&b=c"),
            ("-G -d '&b=c' -d d h/?a", "http://h/?a&&b=c&d"),
            ("-u 'me:p@s:s' h/x", "http://me:p%40s%3As@h/x"),
            ("-g 'h/{a}[1]'", "http://h/{a}[1]"),
        ] {
            assert_eq!(request(line).expect(line).url, url, "{line}");
        }
    }

    #[test]
    fn methods_and_headers_are_curls() {
        for (line, expected) in [
            ("h", "GET http://h/ Accept=*/*"),
            ("-d a h", "POST http://h/ Content-Type=application/x-www-form-urlencoded|Accept=*/*"),
            ("-X PUT --json {} h", "PUT http://h/ Content-Type=application/json|Accept=application/json"),
            ("-I h", "HEAD http://h/ Accept=*/*"),
            ("-r 600 h", "GET http://h/ Range=bytes=600-|Accept=*/*"),
            ("-r 600,700 h", "GET http://h/ Range=bytes=600-|Accept=*/*"),
            ("-r 007 h", "GET http://h/ Range=bytes=7-|Accept=*/*"),
            ("-r -5 h", "GET http://h/ Range=bytes=-5|Accept=*/*"),
            ("-r 5-6,8- h", "GET http://h/ Range=bytes=5-6,8-|Accept=*/*"),
            ("-L --no-location --compressed --no-compressed --no-ftp-pasv h", "GET http://h/ Accept=*/*"),
            (
                "-I --no-head --no-get --no-fail -d a h",
                "POST http://h/ Content-Type=application/x-www-form-urlencoded|Accept=*/*",
            ),
            ("-H 'accept: a' -H 'Accept: b' h", "GET http://h/ accept=a, b"),
            ("-H Accept: -H 'X;' -H 'User-Agent:' h", "GET http://h/ User-Agent=|X="),
            (
                "-b a=1 -b 'b=2; c=3' -A me -e http://r -r 0-5 h",
                "GET http://h/ User-Agent=me|Referer=http://r|Range=bytes=0-5|Accept=*/*|Cookie=a=1;b=2; c=3",
            ),
            ("-b a=1 -H 'cookie: z=1' -H 'Cookie: y=2' h", "GET http://h/ Accept=*/*|cookie=z=1; y=2"),
        ] {
            assert_eq!(shown(line), expected, "{line}");
        }
    }

    #[test]
    fn connections_become_options() {
        let options = |line: &str| {
            let options = request(line).expect(line).options;
            options.iter().map(|(name, value)| format!("{name}: {value}")).collect::<Vec<_>>().join("; ")
        };
        assert_eq!(options("-k -4 https://h"), "insecureSkipTLSVerify: true; dns: { policy: 'onlyIPv4' }");
        assert_eq!(options("--http2 --http1.1 https://h"), "http2: false");
        assert_eq!(options("--http1.1 --http2 https://h"), "", "the last one holds");
        assert_eq!(options("--unix-socket /run/s h/x"), "hosts: { h: 'unix:/run/s' }");
        assert_eq!(options("--abstract-unix-socket s h/x"), "hosts: { h: 'unix:@s' }");
        assert_eq!(options("--abstract-unix-socket s --unix-socket /run/t h/x"), "hosts: { h: 'unix:/run/t' }");
        assert_eq!(options("--resolve h:443:::1 https://h"), "hosts: { 'h:443': '::1' }");
        assert_eq!(options("--connect-to ::127.0.0.1:81 h"), "hosts: { 'h:80': '127.0.0.1:81' }");
        assert_eq!(options("--tlsv1.2 --tls-max 1.2 h"), "tlsVersion: { min: 'tls1.2', max: 'tls1.2' }");
    }

    #[test]
    fn what_cannot_be_sent_is_refused() {
        for (line, found) in [
            ("-d a -F b=c h", "-d and -F: each sets the method"),
            ("-d a -I h", "-d and -I"),
            ("-H nothing h", "-H 'nothing': found no colon, expected 'Name: value'"),
            ("-H 'a b: c' h", "a name of letters"),
            ("-H 'Transfer-Encoding: chunked' h", "leave it out"),
            ("-X 'A B' h", "expected a method"),
            ("-u me h", "expected NAME:PASSWORD"),
            ("-b jar h", "not read from files"),
            ("-m soon h", "expected seconds"),
            ("ftp://h", "expected http, https or h2c"),
            ("--http2 h", "--http2: over http:// curl asks the server for an upgrade"),
            ("--http1.1 h2c://h", "--http1.1: h2c:// is HTTP/2; write http://"),
            ("--streams 5 h", "--streams: HTTP/1.1 has no streams"),
            ("--streams 5 --http1.1 https://h", "--streams: HTTP/1.1 has no streams"),
            ("ws://h", "k6/websockets"),
            ("'h/a{1,2}'", "add -g"),
            ("http://", "found no host"),
            ("--resolve h:1:name h", "expected HOST:PORT:ADDRESS"),
            ("--connect-to h:1:name:2 h", "with an IP address"),
            ("-d @/no/such h", "cannot read the file /no/such"),
            ("-d @- h", "standard input"),
            ("--url-query '+a b' h", "a query has no spaces"),
            ("--key k h", "expected --cert"),
            ("--abstract-unix-socket '' h", "found an empty name, expected that of a socket"),
        ] {
            let message = request(line).expect_err(line);
            assert!(message.contains(found), "{line}: {message}");
        }
    }
}
