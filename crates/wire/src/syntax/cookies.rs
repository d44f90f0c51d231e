//! A cookie jar with k6's shape. Interior mutability: one jar is used by several requests of a batch.
//!
//! RFC 6265 as Go's jar reads it: host-only unless a Domain is given, paths match at slashes, Secure goes to https
//! alone, Max-Age wins over Expires, IP hosts take no Domain. As in browsers, a Domain that is a public suffix (`test`,
//! `co.uk`) is refused, unless the host itself has that name: then the cookie is for that host alone (section 5.3). k6
//! takes them. What a `Set-Cookie` value says is read in `set_cookie`.
//!
//! Our own jar, because scripts read and write it in k6's shape, and the known crates hold one jar for a whole client.
//!
//! Invariant: no entry of the jar can break the header line it is written to.

mod set_cookie;

use std::cell::{Cell, RefCell};
use std::time::{SystemTime, UNIX_EPOCH};

pub use self::set_cookie::Cookie;
use self::set_cookie::is_value_byte;
use crate::syntax::field;
pub use crate::syntax::http_date::parse_date;
use crate::syntax::percent::percent_decode;
use crate::syntax::url::Url;

/// Cookies by domain and path, RFC 6265.
#[derive(Debug, Default)]
pub struct CookieJar {
    entries: RefCell<Vec<Entry>>,
    /// Apart from `entries`, so that the hot path reads one byte.
    filled: Cell<bool>,
    next_order: Cell<u64>,
}

#[derive(Debug)]
struct Entry {
    name: String,
    value: String,
    /// Came in double quotes and goes back so.
    quoted: bool,
    domain: String,
    host_only: bool,
    path: String,
    secure: bool,
    /// `None`: as long as the jar.
    expires_ms: Option<i64>,
    /// Order of creation; kept when the cookie is set again.
    order: u64,
}

impl CookieJar {
    /// Stores a cookie as if this URL had set it. Rejected ones (foreign domain, line breaks) are dropped silently, as
    /// browsers do.
    pub fn set(&self, url: &Url, cookie: Cookie) {
        if problem_in(&cookie.name, &cookie.value).is_none() {
            self.store(url, cookie, false, now_ms());
        }
    }

    /// Stores what one Set-Cookie field of a response from this URL says.
    pub fn set_from_header(&self, url: &Url, set_cookie: &[u8]) {
        if let Some((cookie, quoted)) = Cookie::read(set_cookie) {
            self.store(url, cookie, quoted, now_ms());
        }
    }

    /// Name and value of the cookies that go to this URL, longest path first, then oldest.
    pub fn for_url(&self, url: &Url) -> Vec<(String, String)> {
        let mut found = Vec::new();
        self.visit(url, now_ms(), |e| found.push((e.name.clone(), e.value.clone())));
        found
    }

    /// Removes all cookies that would go to this URL.
    pub fn clear(&self, url: &Url) {
        let target = CookieTarget::of(url);
        self.retain(|e| !e.goes_to(&target));
    }

    /// Removes one cookie that would go to this URL.
    pub fn delete(&self, url: &Url, name: &str) {
        let target = CookieTarget::of(url);
        self.retain(|e| e.name != name || !e.goes_to(&target));
    }

    /// Empties the jar (start of an iteration).
    pub fn clear_all(&self) {
        self.retain(|_| false);
    }

    /// Whether there is nothing in it; asked on the hot path.
    pub fn is_empty(&self) -> bool {
        !self.filled.get()
    }

    fn store(&self, url: &Url, cookie: Cookie, quoted: bool, now_ms: i64) {
        let host = jar_host(&url.host);
        let Some((domain, host_only)) = domain_of(host, &cookie.domain) else { return };
        let path = if cookie.path.starts_with('/') { cookie.path } else { default_path(url) };
        let expires_ms = match cookie.max_age {
            0 => cookie.expires_ms,
            age if age < 0 => Some(i64::MIN),
            age => Some(now_ms.saturating_add(age.saturating_mul(1000))),
        };
        let mut entries = self.entries.borrow_mut();
        let same =
            |e: &Entry| e.name == cookie.name && e.domain == domain && e.path == path && e.host_only == host_only;
        let old = entries.iter().position(same).map(|i| entries.remove(i).order);
        if expires_ms.is_none_or(|at| at > now_ms) {
            let order = old.unwrap_or_else(|| self.next_order.replace(self.next_order.get() + 1));
            let (name, value, secure) = (cookie.name, cookie.value, cookie.secure);
            entries.push(Entry { name, value, quoted, domain, host_only, path, secure, expires_ms, order });
        }
        self.filled.set(!entries.is_empty());
    }

    /// Shows each cookie that goes to the URL, in sending order; forgets the expired ones.
    fn visit(&self, url: &Url, now_ms: i64, mut show: impl FnMut(&Entry)) {
        if self.is_empty() {
            return;
        }
        self.retain(|e| e.expires_ms.is_none_or(|at| at > now_ms));
        let target = CookieTarget::of(url);
        let entries = self.entries.borrow();
        let mut found: Vec<&Entry> = entries.iter().filter(|e| e.goes_to(&target)).collect();
        found.sort_by_key(|e| (std::cmp::Reverse(e.path.len()), e.order));
        found.into_iter().for_each(&mut show);
    }

    fn retain(&self, keep: impl FnMut(&Entry) -> bool) {
        let mut entries = self.entries.borrow_mut();
        entries.retain(keep);
        self.filled.set(!entries.is_empty());
    }
}

/// The Cookie header of one hop, or `None` when it has nothing to say. `own` is the header that the script wrote by
/// hand; then come the request's cookies, then the jar's, except names that the request replaces.
pub(crate) fn cookie_header(
    own: Option<&str>,
    request: &[(String, String, bool)],
    jar: Option<&CookieJar>,
    url: &Url,
) -> Option<String> {
    let mut out = own.map(String::from).unwrap_or_default();
    for (name, value, _) in request {
        push_pair(&mut out, name, value, false);
    }
    if let Some(jar) = jar {
        let replaced = |name: &str| request.iter().any(|(n, _, replace)| *replace && n == name);
        jar.visit(url, now_ms(), |e| {
            if !replaced(&e.name) {
                push_pair(&mut out, &e.name, &e.value, e.quoted);
            }
        });
    }
    (!out.is_empty()).then_some(out)
}

/// Why a cookie that a script gave cannot be sent: its name or its value would end the line of the header.
pub fn problem_in(name: &str, value: &str) -> Option<String> {
    let (what, problem) = match field::problem_in(name) {
        Some(problem) => ("name", problem),
        None => ("value", field::problem_in(value)?),
    };
    Some(format!("invalid {what} of the cookie {name:?}: {problem}"))
}

/// Appends `name=value`. Other bytes that no value may hold are left out; values with a space or comma are quoted, as
/// Go does.
fn push_pair(out: &mut String, name: &str, value: &str, quoted: bool) {
    if !out.is_empty() {
        out.push_str("; ");
    }
    out.push_str(name);
    out.push('=');
    let quoted = quoted || value.contains([' ', ',']);
    if quoted {
        out.push('"');
    }
    out.extend(value.chars().filter(|c| c.is_ascii() && is_value_byte(*c as u8)));
    if quoted {
        out.push('"');
    }
}

/// What a cookie is matched against.
struct CookieTarget<'a> {
    host: &'a str,
    path: std::borrow::Cow<'a, str>,
    tls: bool,
}

impl<'a> CookieTarget<'a> {
    fn of(url: &'a Url) -> CookieTarget<'a> {
        let host = jar_host(&url.host);
        // As in browsers and in Go, what is sent to the own machine is as good as encrypted.
        let is_local = host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback());
        CookieTarget { host, path: percent_decode(url.path()), tls: url.tls || is_local }
    }
}

impl Entry {
    fn goes_to(&self, to: &CookieTarget<'_>) -> bool {
        let domain = to.host == self.domain || !self.host_only && is_below(to.host, &self.domain);
        domain && path_matches(&to.path, &self.path) && (to.tls || !self.secure)
    }
}

fn path_matches(path: &str, of_cookie: &str) -> bool {
    path.strip_prefix(of_cookie)
        .is_some_and(|rest| rest.is_empty() || of_cookie.ends_with('/') || rest.starts_with('/'))
}

fn is_below(host: &str, domain: &str) -> bool {
    host.strip_suffix(domain).is_some_and(|rest| rest.ends_with('.'))
}

/// One trailing dot names the same host.
fn jar_host(host: &str) -> &str {
    host.strip_suffix('.').unwrap_or(host)
}

/// The domain a cookie is stored under and whether it is for that host alone; `None`: the host may not set it.
fn domain_of(host: &str, attribute: &str) -> Option<(String, bool)> {
    if attribute.is_empty() {
        return Some((host.to_owned(), true));
    }
    if host.parse::<std::net::IpAddr>().is_ok() {
        return (attribute == host).then(|| (host.to_owned(), true));
    }
    let domain = attribute.strip_prefix('.').unwrap_or(attribute).to_ascii_lowercase();
    let malformed = domain.is_empty() || domain.starts_with('.') || domain.ends_with('.');
    if is_public_suffix(&domain) {
        return (host == domain).then_some((domain, true));
    }
    (!malformed && (host == domain || is_below(host, &domain))).then_some((domain, false))
}

/// Whether names below this one belong to different owners. Names that the list does not have are public up to their
/// last dot.
fn is_public_suffix(domain: &str) -> bool {
    psl::suffix(domain.as_bytes()).is_some_and(|suffix| suffix == domain)
}

/// RFC 6265, section 5.1.4: up to the last slash.
fn default_path(url: &Url) -> String {
    let path = percent_decode(url.path());
    match path.rfind('/') {
        Some(at) if at > 0 => path[..at].to_owned(),
        _ => String::from("/"),
    }
}

fn now_ms() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| i64::try_from(d.as_millis()).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    fn jar_at(set_by: &str, headers: &[&str]) -> CookieJar {
        let jar = CookieJar::default();
        headers.iter().for_each(|h| jar.set_from_header(&url(set_by), h.as_bytes()));
        jar
    }

    fn sent(jar: &CookieJar, to: &str) -> String {
        cookie_header(None, &[], Some(jar), &url(to)).unwrap_or_default()
    }

    #[test]
    fn domains_paths_and_secure_decide_where_a_cookie_goes() {
        let headers = [
            "plain=1",
            "dom=1; Domain=.foo.test",
            "other=1; Domain=bar.test",
            "dots=1; Domain=..foo.test",
            "end=1; Domain=foo.test.",
            "p=1; Path=/a",
            "rel=1; Path=x",
            "root=1; Path=/",
            "sec=1; Secure",
        ];
        let jar = jar_at("http://foo.test/a/b", &headers);
        assert_eq!(sent(&jar, "http://foo.test/a/c"), "plain=1; dom=1; p=1; rel=1; root=1");
        assert_eq!(sent(&jar, "https://foo.test/a"), "plain=1; dom=1; p=1; rel=1; sec=1; root=1");
        assert_eq!(sent(&jar, "http://foo.test/abc"), "root=1");
        assert_eq!(sent(&jar, "http://sub.foo.test/a/"), "dom=1");
        assert_eq!(sent(&jar, "http://xfoo.test/a/"), "");
        assert_eq!(sent(&jar, "http://foo.test./a/"), sent(&jar, "http://foo.test/a/"));
        assert_eq!(sent(&jar, "http://foo.test:8080/%61/"), sent(&jar, "http://foo.test/a/"));
    }

    #[test]
    fn nobody_sets_a_cookie_for_a_public_suffix() {
        for (host, suffix, below) in [
            ("a.b.test", "test", "b.test"),
            ("shop.foo.co.uk", "co.uk", "foo.co.uk"),
            ("a.me.github.io", "github.io", "me.github.io"),
            ("a.b.xn--55qx5d.cn", "xn--55qx5d.cn", "b.xn--55qx5d.cn"),
            ("x.y.any.kawasaki.jp", "any.kawasaki.jp", "y.any.kawasaki.jp"),
            ("x.city.kawasaki.jp", "jp", "city.kawasaki.jp"),
            ("a.svc.local", "local", "svc.local"),
        ] {
            let [wide, dotted, fine] = [suffix, &format!(".{suffix}"), below].map(|d| format!("c=1; Domain={d}"));
            let at = format!("http://{host}/");
            assert_eq!(sent(&jar_at(&at, &[&wide, &dotted]), &at), "", "{suffix}");
            assert_eq!(sent(&jar_at(&at, &[&fine]), &format!("http://{below}/")), "c=1", "{below}");
        }
        let jar = jar_at("http://test/", &["own=1; Domain=test"]);
        assert_eq!((sent(&jar, "http://test/").as_str(), sent(&jar, "http://a.test/").as_str()), ("own=1", ""));
    }

    #[test]
    fn ip_hosts_are_host_only() {
        let jar = jar_at("http://127.0.0.1/", &["a=1", "b=1; Domain=127.0.0.1", "c=1; Domain=0.0.1"]);
        assert_eq!(sent(&jar, "http://127.0.0.1/"), "a=1; b=1");
    }

    #[test]
    fn cookies_end_by_max_age_then_expires() {
        let jar =
            jar_at("http://h/", &["a=1", "b=1; Max-Age=100; Expires=Wed, 21 Oct 2009 07:28:00 GMT", "c=1; Max-Age=5"]);
        jar.set_from_header(&url("http://h/"), b"d=1; Expires=Wed, 21-Oct-2009 07:28:00 GMT");
        let mut names = String::new();
        jar.visit(&url("http://h/"), now_ms() + 10_000, |e| names.push_str(&e.name));
        assert_eq!(names, "ab");
        jar.set_from_header(&url("http://h/"), b"a=; Max-Age=0");
        jar.set_from_header(&url("http://h/"), b"b=; Expires=Thu, 01 Jan 1970 00:00:00 GMT");
        assert!(jar.is_empty());
    }

    #[test]
    fn setting_again_keeps_the_place() {
        let jar = jar_at("http://h/", &["a=1", "b=1", "a=2"]);
        assert_eq!(jar.for_url(&url("http://h/")), [("a".into(), "2".into()), ("b".into(), "1".into())]);
        jar.delete(&url("http://h/x"), "a");
        assert_eq!(sent(&jar, "http://h/"), "b=1");
        jar.clear(&url("http://other/"));
        assert!(!jar.is_empty());
        jar.clear(&url("http://h/"));
        assert!(jar.is_empty());
        jar.set_from_header(&url("http://h/"), b"a=1");
        jar.clear_all();
        assert!(jar.is_empty() && jar.for_url(&url("http://h/")).is_empty());
    }

    #[test]
    fn own_header_then_request_then_jar() {
        let jar = jar_at("http://h/", &["js=1", "keep=\"q\"", "sp=a b"]);
        let own = [("js".into(), "two".into(), true), ("x".into(), "a\",b\r\n;c".into(), false)];
        let header = cookie_header(Some("own=1"), &own, Some(&jar), &url("http://h/"));
        assert_eq!(header.as_deref(), Some("own=1; js=two; x=\"a,bc\"; keep=\"q\"; sp=\"a b\""));
        let plain = [("js".into(), "two".into(), false)];
        assert!(cookie_header(None, &plain, Some(&jar), &url("http://h/")).unwrap().starts_with("js=two; js=1;"));
        assert_eq!(cookie_header(None, &[], None, &url("http://h/")), None);
    }

    #[test]
    fn random_set_cookies_never_panic_and_never_break_a_header() {
        let pieces: [&[u8]; 14] = [
            b"a",
            b"=",
            b";",
            b"\"",
            b" ",
            b",",
            b"\r\n",
            b"\xff",
            b"Expires=",
            b"Max-Age=",
            b"99:99:99",
            b"Domain=",
            b"Jan 1",
            b"-",
        ];
        let mut rng = fastrand::Rng::with_seed(11);
        let (jar, at) = (CookieJar::default(), url("http://h.test/a/b"));
        let mut stored = 0;
        for _ in 0..30_000 {
            let mut text = Vec::new();
            (0..rng.usize(0..12)).for_each(|_| text.extend_from_slice(pieces[rng.usize(0..pieces.len())]));
            jar.set_from_header(&at, &text);
            if let Some(header) = cookie_header(None, &[], Some(&jar), &at) {
                stored += 1;
                assert!(header.bytes().all(|b| (0x20..0x7f).contains(&b)), "{text:?} gave {header:?}");
            }
            jar.clear_all();
        }
        assert!(stored > 300, "only {stored} cookies stored: the generator tests nothing");
    }
}
