//! The natives under `URL` and `URLSearchParams`: the URL Standard by the crate `url`, and the form coding that belongs
//! to it.
//!
//! Requests of virtual users are read by `wire::Url` instead, which refuses and keeps what Go's parser refuses and
//! keeps.

use host::bytes as script_bytes;
use host::js::{Array, Ctx, Exception, Result, Value};
use host::plain::Args;
use url::{Url, form_urlencoded, quirks};

use crate::values::{argument, flat, string};

/// `parseUrl(text, base)`.
pub(super) fn parse_native<'js>(ctx: &Ctx<'js>, args: Args<'_, 'js>) -> Result<Value<'js>> {
    let text = script_bytes::to_text(ctx, &argument(ctx, args, 0))?;
    let refuse = |what: String| Exception::throw_type(ctx, &what);
    let base = match args.get(1).filter(|base| !base.is_undefined()) {
        Some(base) => Some(parse(&script_bytes::to_text(ctx, &base)?, None).map_err(refuse)?),
        None => None,
    };
    parts(ctx, &parse(&text, base.as_ref()).map_err(refuse)?)
}

/// `changeUrl(href, name, value)`: what the setter of that name does. A value that cannot be is passed over.
pub(super) fn change_native<'js>(ctx: &Ctx<'js>, args: Args<'_, 'js>) -> Result<Value<'js>> {
    let text = |index| script_bytes::to_text(ctx, &argument(ctx, args, index));
    let (href, name, value) = (text(0)?, text(1)?, text(2)?);
    let mut url = parse(&href, None).map_err(|what| Exception::throw_type(ctx, &what))?;
    change(&mut url, &name, &value);
    parts(ctx, &url)
}

/// `parseQuery(text)`.
pub(super) fn parse_query_native<'js>(ctx: &Ctx<'js>, args: Args<'_, 'js>) -> Result<Value<'js>> {
    let text = script_bytes::to_text(ctx, &argument(ctx, args, 0))?;
    let query = text.strip_prefix('?').unwrap_or(&text);
    let pairs: Vec<_> = form_urlencoded::parse(query.as_bytes()).collect();
    flat(ctx, pairs.iter().map(|(name, value)| (&**name, &**value)))
}

/// `writeQuery([name, value, …])`.
pub(super) fn write_query_native<'js>(ctx: &Ctx<'js>, args: Args<'_, 'js>) -> Result<Value<'js>> {
    let list: Array<'js> = argument(ctx, args, 0).get()?;
    let mut out = String::new();
    for (index, item) in list.iter::<Value<'js>>().enumerate() {
        if index > 0 {
            out.push(if index % 2 == 0 { '&' } else { '=' });
        }
        out.extend(form_urlencoded::byte_serialize(script_bytes::to_text(ctx, &item?)?.as_bytes()));
    }
    string(ctx, &out)
}

fn parse(text: &str, base: Option<&Url>) -> std::result::Result<Url, String> {
    Url::options().base_url(base).parse(text).map_err(|error| format!("invalid URL '{text}': {error}"))
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
