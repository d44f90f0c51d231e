//! `URL` and `URLSearchParams` of the URL Standard, by the crate `url`: globals of apps, and what scripts import from
//! jslib.k6.io.
//!
//! Requests of virtual users are read by `wire::Url` instead, which refuses and keeps what Go's parser refuses and
//! keeps.

use host::bytes as script_bytes;
use host::js::function::Opt;
use host::js::prelude::Func;
use host::js::{Array, Ctx, Exception, Object, Result, Value};
use url::{Url, form_urlencoded, quirks};

/// Both classes by their names.
pub fn classes<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let natives = Object::new(ctx.clone())?;
    natives.set("parseUrl", Func::from(parse_native))?;
    natives.set("changeUrl", Func::from(change_native))?;
    natives.set("parseQuery", Func::from(parse_query_native))?;
    natives.set("writeQuery", Func::from(write_query_native))?;
    super::evaluate(ctx, "onrush/web/url.js", include_str!("url.js"))?.call((natives,))
}

/// `parseUrl(text, base)`.
fn parse_native<'js>(ctx: Ctx<'js>, text: Value<'js>, base: Opt<Value<'js>>) -> Result<Value<'js>> {
    let text = script_bytes::to_text(&ctx, &text)?;
    let refuse = |what: String| Exception::throw_type(&ctx, &what);
    let base = match base.0.filter(|base| !base.is_undefined()) {
        Some(base) => Some(parse(&script_bytes::to_text(&ctx, &base)?, None).map_err(refuse)?),
        None => None,
    };
    parts(&ctx, &parse(&text, base.as_ref()).map_err(refuse)?)
}

/// `changeUrl(href, name, value)`: what the setter of that name does. A value that cannot be is passed over.
fn change_native<'js>(ctx: Ctx<'js>, href: String, name: String, value: Value<'js>) -> Result<Value<'js>> {
    let value = script_bytes::to_text(&ctx, &value)?;
    let mut url = parse(&href, None).map_err(|what| Exception::throw_type(&ctx, &what))?;
    change(&mut url, &name, &value);
    parts(&ctx, &url)
}

/// `parseQuery(text)`: name, value, name, value.
fn parse_query_native<'js>(ctx: Ctx<'js>, text: Value<'js>) -> Result<Value<'js>> {
    let text = script_bytes::to_text(&ctx, &text)?;
    let query = text.strip_prefix('?').unwrap_or(&text);
    let array = Array::new(ctx.clone())?;
    for (index, (name, value)) in form_urlencoded::parse(query.as_bytes()).enumerate() {
        array.set(index * 2, &*name)?;
        array.set(index * 2 + 1, &*value)?;
    }
    Ok(array.into_value())
}

/// `writeQuery([name, value, …])`.
fn write_query_native<'js>(ctx: Ctx<'js>, list: Array<'js>) -> Result<String> {
    let mut out = String::new();
    for (index, item) in list.iter::<Value<'js>>().enumerate() {
        if index > 0 {
            out.push(if index % 2 == 0 { '&' } else { '=' });
        }
        out.extend(form_urlencoded::byte_serialize(script_bytes::to_text(&ctx, &item?)?.as_bytes()));
    }
    Ok(out)
}

fn parse(text: &str, base: Option<&Url>) -> std::result::Result<Url, String> {
    // The standard passes over further slashes in front of a host; the crate does so behind a scheme alone.
    let rest = text.trim_start_matches(|c: char| c <= ' ');
    let slashes = rest.chars().take_while(|c| matches!(c, '/' | '\\')).count();
    let scheme = base.map_or("", Url::scheme);
    let whole =
        (slashes > 2 && matches!(scheme, "http" | "https" | "ws" | "wss" | "ftp")).then(|| format!("{scheme}:{rest}"));
    let parsed = Url::options().base_url(base).parse(whole.as_deref().unwrap_or(text));
    parsed.map_err(|error| format!("invalid URL '{text}': {error}"))
}

/// Scheme, user name, password, host name, port, path, query, fragment, and the whole.
fn parts<'js>(ctx: &Ctx<'js>, url: &Url) -> Result<Value<'js>> {
    let array = Array::new(ctx.clone())?;
    let of_url = [
        url.scheme(),
        url.username(),
        url.password().unwrap_or(""),
        url.host_str().unwrap_or(""),
        quirks::port(url),
        url.path(),
        url.query().unwrap_or(""),
        url.fragment().unwrap_or(""),
        url.as_str(),
    ];
    for (index, part) in of_url.into_iter().enumerate() {
        array.set(index, part)?;
    }
    Ok(array.into_value())
}

/// By the standard a setter passes over what cannot be and tells nobody, so outcomes are let go.
fn change(url: &mut Url, name: &str, value: &str) {
    match name {
        "protocol" => drop(quirks::set_protocol(url, value)),
        "username" => drop(quirks::set_username(url, value)),
        "password" => drop(quirks::set_password(url, value)),
        "host" => drop(quirks::set_host(url, value)),
        "hostname" => drop(quirks::set_hostname(url, value)),
        "port" => drop(quirks::set_port(url, value)),
        "pathname" => quirks::set_pathname(url, value),
        "search" => quirks::set_search(url, value),
        "hash" => quirks::set_hash(url, value),
        unknown => unreachable!("url.js has no setter {unknown}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(source: &str, base: Option<&Url>) -> String {
        parse(source, base).unwrap().to_string()
    }

    #[test]
    fn addresses_are_written_by_the_standard() {
        for (source, expected) in [
            ("http://h", "http://h/"),
            ("HTTP://User:Pw@H.Example:80/A/./b/../c?x=1#y", "http://User:Pw@h.example/A/c?x=1#y"),
            ("https://h:8443/?a b'", "https://h:8443/?a%20b%27"),
            ("http://[::1]:81/\u{e9}", "http://[::1]:81/%C3%A9"),
            ("  ws:\\\\h\\x\n", "ws://h/x"),
            ("file:///a/../b", "file:///b"),
            ("mailto:a@b", "mailto:a@b"),
            ("http://h/..", "http://h/"),
            ("http://b\u{fc}cher.example/", "http://xn--bcher-kva.example/"),
            ("http://0x7f.1/", "http://127.0.0.1/"),
            ("custom://h/p?q", "custom://h/p?q"),
        ] {
            assert_eq!(text(source, None), expected, "{source}");
        }
    }

    #[test]
    fn relative_addresses_start_at_their_base() {
        let base = parse("http://u@h:81/a/b?q#f", None).unwrap();
        for (source, expected) in [
            ("c", "http://u@h:81/a/c"),
            ("../c?x", "http://u@h:81/c?x"),
            ("/c", "http://u@h:81/c"),
            ("//k/c", "http://k/c"),
            ("///k/c", "http://k/c"),
            (" /\\//k/c", "http://k/c"),
            ("", "http://u@h:81/a/b?q"),
            ("?x", "http://u@h:81/a/b?x"),
            ("#x", "http://u@h:81/a/b?q#x"),
            ("https://k/", "https://k/"),
        ] {
            assert_eq!(text(source, Some(&base)), expected, "{source}");
        }
    }

    #[test]
    fn what_is_no_address_is_refused_by_name() {
        for (source, expected) in [
            ("/a", "relative URL without a base"),
            ("http://", "empty host"),
            ("http://h:99999/", "invalid port number"),
            ("http://a b/", "invalid international domain name"),
        ] {
            assert_eq!(parse(source, None).unwrap_err(), format!("invalid URL '{source}': {expected}"));
        }
    }

    #[test]
    fn setters_pass_over_what_cannot_be() {
        let mut url = parse("http://h/a?b#c", None).unwrap();
        let changes = [
            ("protocol", "https"),
            ("username", "u:v"),
            ("password", "p"),
            ("hostname", "k"),
            ("port", "81"),
            ("port", "none"),
            ("host", ""),
            ("pathname", "x y?"),
            ("search", "?q=#"),
            ("hash", "#z"),
        ];
        for (name, value) in changes {
            change(&mut url, name, value);
        }
        assert_eq!(url.as_str(), "https://u%3Av:p@k:81/x%20y%3F?q=%23#z");
    }
}
