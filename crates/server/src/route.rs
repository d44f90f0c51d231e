//! The one list of routes: lookup, method rules and statistics are read from it, and docs/reference/routes.md is made
//! of it.
//!
//! A pattern's segments are literal or `{name}`; a last `{name...}` takes the rest of the path, empty too. The first
//! route that fits wins; `/` comes first because load tests ask for it most.

use std::sync::LazyLock;

use crate::grpc::connect;
use crate::outgoing::respond::Reply;
use crate::request::Request;
use crate::routes::{
    auth, body, cache, chat, coding, cookies, data, delay, documents, echo, faults, image, redirect, simple, stream,
    websocket,
};

/// One line of the list.
#[derive(Debug)]
pub struct Route {
    /// The path.
    pub pattern: &'static str,
    /// Methods it answers; empty: all. `HEAD` goes wherever `GET` does, `OPTIONS` everywhere.
    pub methods: &'static [&'static str],
    /// What it does, for the documentation.
    pub what: &'static str,
    pub(crate) body: BodyUse,
    pub(crate) run: fn(&Request<'_>) -> Reply,
}

/// What a route does with request bodies; all of them read them to the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BodyUse {
    /// Counts and drops the bytes.
    Count,
    /// Keeps them, up to `MAX_KEPT`.
    Keep,
}

/// Bytes of a body that a route keeps; more is answered by 413.
pub(crate) const MAX_KEPT: u64 = 16 * 1024 * 1024;

const GET: &[&str] = &["GET"];
const POST: &[&str] = &["POST"];
const ANY: &[&str] = &[];

const fn route(
    pattern: &'static str,
    methods: &'static [&'static str],
    run: fn(&Request<'_>) -> Reply,
    what: &'static str,
) -> Route {
    Route { pattern, methods, what, body: BodyUse::Count, run }
}

const fn keeping(route: Route) -> Route {
    Route { body: BodyUse::Keep, ..route }
}

/// Every route of the target.
pub static ROUTES: &[Route] = &[
    route("/", ANY, simple::index, "`hello from onrush`, 18 bytes: the small response"),
    route("/stats", GET, simple::stats, "what the target counted so far; asking does not count"),
    keeping(route("/get", GET, echo::get, "args, headers, method, origin, url")),
    keeping(route("/post", POST, echo::body, "as /get, with data, files, form, json")),
    keeping(route("/put", &["PUT"], echo::body, "as /post")),
    keeping(route("/patch", &["PATCH"], echo::body, "as /post")),
    keeping(route("/delete", &["DELETE"], echo::body, "as /post")),
    keeping(route("/anything/{rest...}", ANY, echo::body, "as /post, with any method")),
    route("/headers", ANY, echo::headers, "the headers"),
    route("/ip", ANY, echo::ip, "the client's address"),
    route("/user-agent", ANY, echo::user_agent, "the client's name"),
    route("/upload", ANY, simple::upload, "reads the body and answers its size"),
    route("/status/{code}", ANY, simple::status, "that status; a list `200,500` picks one at random"),
    route("/redirect/{n}", ANY, redirect::counted, "n redirects, then /get; `?absolute=true`"),
    route("/relative-redirect/{n}", ANY, redirect::relative, "n redirects to paths"),
    route("/absolute-redirect/{n}", ANY, redirect::absolute, "n redirects to whole urls"),
    route("/redirect-to", ANY, redirect::to, "to `?url=`, with `?status_code=`"),
    route("/cookies", ANY, cookies::show, "the cookies sent"),
    route("/cookies/set", ANY, cookies::set, "sets the arguments as cookies, redirects to /cookies"),
    route("/cookies/delete", ANY, cookies::delete, "expires the arguments' cookies, redirects to /cookies"),
    route("/basic-auth/{user}/{password}", ANY, auth::basic, "401 without these credentials"),
    route("/hidden-basic-auth/{user}/{password}", ANY, auth::hidden_basic, "404 without these credentials"),
    route("/bearer", ANY, auth::bearer, "401 without a bearer token"),
    route("/digest-auth/{qop}/{user}/{password}", ANY, auth::digest_md5, "digest authentication, MD5"),
    route(
        "/digest-auth/{qop}/{user}/{password}/{algorithm}",
        ANY,
        auth::digest,
        "the same with MD5, SHA-256 or SHA-512-256",
    ),
    route("/gzip", ANY, coding::gzip, "as /get, gzip"),
    route("/deflate", ANY, coding::deflate, "as /get, deflate (zlib)"),
    route("/brotli", ANY, coding::brotli, "as /get, br"),
    route("/zstd", ANY, coding::zstd, "as /get, zstd"),
    route("/zstd-br", ANY, coding::zstd_brotli, "as /get, zstd and then br"),
    route("/bytes/{n}", ANY, data::bytes, "n bytes of noise, the same each time; `?seed=` for other noise"),
    route("/range/{n}", ANY, data::range, "n letters; obeys a Range header of one range"),
    route(
        "/body/{kind}/{size}",
        ANY,
        body::body,
        "`string`, `array`, `chunked` or `file` of `500`, `10k`, `1m`, at most `1g`, in pieces of `?piece=1k`; obeys a \
         Range header",
    ),
    route("/json", ANY, data::json, "a small document"),
    route("/html", ANY, data::html, "a small page with links and a form"),
    route("/xml", ANY, documents::xml, "a small document"),
    route("/encoding/utf8", ANY, documents::utf8, "letters of one to four bytes"),
    route("/forms/post", ANY, documents::form, "a page with a form for /post"),
    route("/robots.txt", ANY, documents::robots, "asks robots to leave /deny alone"),
    route("/deny", ANY, documents::deny, "what robots should not read"),
    route("/links/{n}", ANY, documents::links, "the first of n pages that link to each other"),
    route("/links/{n}/{page}", ANY, documents::links, "one of them"),
    route("/image", ANY, image::accepted, "a picture of the type the Accept header likes best"),
    route("/image/{format}", ANY, image::of_kind, "the picture as png, jpeg, webp or svg"),
    route("/base64/{value}", ANY, documents::base64, "the value decoded"),
    route("/base64/decode/{value}", ANY, documents::base64, "the same"),
    route("/base64/encode/{value}", ANY, documents::to_base64, "the value encoded"),
    route("/cache", ANY, cache::conditional, "as /get; 304 with If-None-Match or If-Modified-Since"),
    route("/cache/{seconds}", ANY, cache::kept, "as /get, with Cache-Control for this time"),
    route("/etag/{etag}", ANY, cache::etag, "as /get with that ETag; obeys If-None-Match and If-Match"),
    route("/hostname", ANY, documents::hostname, "the machine's name"),
    keeping(route("/dump/request", ANY, documents::dump, "the request as it came")),
    route("/unstable", ANY, simple::unstable, "500 in `?failure_rate=0.5` of all cases, else 200"),
    route(
        "/sse",
        ANY,
        stream::events,
        "`?count=10` server-sent events over `?duration=5s`, after `?delay=`; `?stamp=1`: each says when it left",
    ),
    keeping(route(
        "/v1/chat/completions",
        POST,
        chat::completions,
        "a chat completion of `max_tokens` in the body, as a stream when it says so: the first token after \
         `?first=200ms`, each other after `?gap=20ms`",
    )),
    route("/uuid", ANY, data::uuid, "a random uuid"),
    route("/stream/{n}", ANY, stream::lines, "n JSON lines, chunked, at most 10,000"),
    route("/stream-bytes/{n}", ANY, stream::bytes, "n bytes, chunked by `?chunk_size=` (10240); `?seed=`"),
    route("/drip", ANY, stream::drip, "`?numbytes=10` over `?duration=2s`, first after `?delay=`; `?code=`"),
    route("/delay/{time}", ANY, delay::delay, "as /get, after seconds or a duration such as `50ms`"),
    route(
        "/delay-list",
        ANY,
        delay::list,
        "delays each request by `?law=` and `?seed=`; the answer has the planned and the real delay, in JSON and as \
         headers; see below",
    ),
    route("/trailers", ANY, stream::trailers, "a chunked body, the arguments as trailers"),
    route("/early-hints", ANY, stream::early_hints, "103 with a Link header, then 200"),
    route("/response-headers", ANY, data::response_headers, "the arguments as response headers"),
    route(
        "/ws/echo",
        GET,
        websocket::echo,
        "websocket: sends back every message; takes the first subprotocol, and compression",
    ),
    route(
        "/ws/broadcast/{room}",
        GET,
        websocket::broadcast,
        "websocket: sends every message to the others in the room, on all workers; `?self=true`: to the sender too",
    ),
    route(
        "/ws/hold/{time}",
        GET,
        websocket::hold,
        "websocket: sends back `[message,in,out]` after seconds or a duration such as `50ms`; in and out are when it \
         came and went, in microseconds since 1970",
    ),
    route("/ws/close/{code}", GET, websocket::closing, "websocket: closes with that code at once; `?reason=`"),
    route(
        "/ws/fault/{kind}",
        GET,
        websocket::fault,
        "websocket: then `bad-frame`, `mid-message`, `drop`, or `flood` of `?count=` (10000) messages of `?size=` \
         (100)",
    ),
    keeping(route(
        "/onrush.test.v1.Target/{method}",
        POST,
        connect::answer,
        "gRPC and Connect: Echo, Delay, Fail, Metadata, Collect, Count, Chat; see below",
    )),
    keeping(route("/grpc.health.v1.Health/{method}", POST, connect::answer, "gRPC and Connect: Check and Watch")),
    route("/grpc.reflection.v1.ServerReflection/{method}", POST, simple::grpc, "gRPC: ServerReflectionInfo"),
    route("/grpc.reflection.v1alpha.ServerReflection/{method}", POST, simple::grpc, "gRPC: the same"),
    route("/fault/reset", ANY, faults::reset, "RST instead of a response"),
    route("/fault/stall", ANY, faults::stall, "no byte for 120 s, then closes"),
    route("/fault/partial", ANY, faults::partial, "declares 1,000 bytes, sends 500, closes"),
    route("/fault/slow", ANY, faults::slow, "a whole response, a byte at a time, `?rate=` bytes a second (20)"),
    route("/fault/wrong-length", ANY, faults::wrong_length, "declares 10 bytes, sends 20, goes on"),
    route("/fault/garbage", ANY, faults::garbage, "bytes that are not HTTP, closes"),
    route("/fault/bad-chunk", ANY, faults::bad_chunk, "a chunk, then a chunk size that is none, closes"),
    route("/fault/big-header", ANY, faults::big_header, "200 with a header of `?kb=` KiB (64)"),
    route("/fault/close-idle", ANY, faults::close_idle, "200 with keep-alive, then closes; `?after=50ms`"),
    route("/fault/no-response", ANY, faults::no_response, "closes without a byte"),
];

/// The index of `/`.
const INDEX: usize = index_of("/");

/// The index of `/stats`, which is not counted.
pub(crate) const STATS: usize = index_of("/stats");

/// Where a pattern stands in the list. Known when the server is compiled, so that no request looks for it.
const fn index_of(pattern: &str) -> usize {
    let (wanted, mut index) = (pattern.as_bytes(), 0);
    while index < ROUTES.len() {
        let found = ROUTES[index].pattern.as_bytes();
        let mut same = 0;
        while same < wanted.len() && same < found.len() && wanted[same] == found[same] {
            same += 1;
        }
        if same == wanted.len() && same == found.len() {
            return index;
        }
        index += 1;
    }
    panic!("the list has no such route")
}

impl Route {
    /// Whether it answers that method.
    pub(crate) fn answers(&self, method: &str) -> bool {
        self.methods.is_empty() || self.methods.contains(&method) || (method == "HEAD" && self.methods.contains(&"GET"))
    }

    /// The value of an `Allow` header.
    pub(crate) fn allow(&self) -> String {
        if self.methods.is_empty() {
            return "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS".to_owned();
        }
        let head = if self.methods.contains(&"GET") { ", HEAD" } else { "" };
        format!("{}{head}, OPTIONS", self.methods.join(", "))
    }
}

/// The routes whose paths go on with each byte behind the slash, in the order of the list; 0 is the end of the path.
static BY_FIRST_BYTE: LazyLock<[Vec<usize>; 256]> = LazyLock::new(|| {
    let mut table = [const { Vec::new() }; 256];
    for (index, route) in ROUTES.iter().enumerate() {
        table[first_byte(route.pattern)].push(index);
    }
    table
});

fn first_byte(path: &str) -> usize {
    path.as_bytes().get(1).copied().map_or(0, usize::from)
}

/// The route of a path, by index, and the values of its `{…}`.
pub(crate) fn find(path: &str) -> Option<(usize, [&str; 4])> {
    if path == "/" {
        return Some((INDEX, [""; 4]));
    }
    BY_FIRST_BYTE[first_byte(path)].iter().find_map(|&index| Some((index, fit(ROUTES[index].pattern, path)?)))
}

fn fit<'p>(pattern: &str, path: &'p str) -> Option<[&'p str; 4]> {
    let mut params = [""; 4];
    let (mut pattern, mut path, mut filled) = (pattern, path, 0);
    while let Some(rest) = pattern.strip_prefix('/') {
        let (want, next) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        if want.ends_with("...}") {
            params[filled] = path.strip_prefix('/').unwrap_or("");
            return (path.is_empty() || path.starts_with('/')).then_some(params);
        }
        let given = path.strip_prefix('/')?;
        let (given, left) = given.split_at(given.find('/').unwrap_or(given.len()));
        if want.starts_with('{') && !given.is_empty() {
            params[filled] = given;
            filled += 1;
        } else if want != given {
            return None;
        }
        (pattern, path) = (next, left);
    }
    path.is_empty().then_some(params)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_routes() {
        let table = [
            ("/", Some("/"), ""),
            ("/get", Some("/get"), ""),
            ("/get/", None, ""),
            ("/anything", Some("/anything/{rest...}"), ""),
            ("/anything/a/b", Some("/anything/{rest...}"), "a/b"),
            ("/anythingelse", None, ""),
            ("/status/404", Some("/status/{code}"), "404"),
            ("/status/", None, ""),
            ("/status", None, ""),
            ("/cookies/set", Some("/cookies/set"), ""),
            ("/digest-auth/auth/u/p/MD5", Some("/digest-auth/{qop}/{user}/{password}/{algorithm}"), "auth"),
            ("", None, ""),
            ("*", None, ""),
        ];
        for (path, pattern, first) in table {
            let found = find(path);
            assert_eq!(found.map(|(i, _)| ROUTES[i].pattern), pattern, "{path}");
            assert_eq!(found.map_or("", |(_, p)| p[0]), first, "{path}");
        }
        assert_eq!((ROUTES[INDEX].pattern, ROUTES[STATS].pattern), ("/", "/stats"));
    }

    #[test]
    fn every_pattern_finds_itself() {
        for (index, route) in ROUTES.iter().enumerate() {
            let path = route.pattern.replace("{rest...}", "x").replace(['{', '}'], "");
            assert_eq!(find(&path).map(|(i, _)| i), Some(index), "{path} is shadowed");
        }
    }
}
