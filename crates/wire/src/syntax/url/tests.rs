//! URLs as Go reads them, table by table.

use super::*;

fn url(text: &str) -> Url {
    Url::parse(text).unwrap()
}

fn error(text: &str) -> (String, FailureKind) {
    let e = Url::parse(text).unwrap_err();
    (e.message, e.kind)
}

#[test]
fn targets_go_out_as_written() {
    let cases = [
        ("http://h", "/"),
        ("http://h?a=b", "/?a=b"),
        ("http://h?", "/?"),
        ("http://h/a/../b/./c", "/a/../b/./c"),
        ("http://h/%7Efoo%2fbar/%41", "/%7Efoo%2fbar/%41"),
        ("http://h/a b?c d", "/a%20b?c%20d"),
        ("http://h/é?é=ü", "/%C3%A9?%C3%A9=%C3%BC"),
        ("http://h/a\"b<c>d\\e^f`g{h|i}", "/a%22b%3Cc%3Ed%5Ce%5Ef%60g%7Bh%7Ci%7D"),
        ("http://h/?q=\"<>\\^`{|}'[]", "/?q=\"<>\\^`{|}'[]"),
        ("http://h/[a]'()*!$&+,;=:@", "/[a]'()*!$&+,;=:@"),
        ("http://h/?%zz", "/?%zz"),
        ("http://h/a?b?c#d#e", "/a?b?c"),
        ("http://h//double//x", "//double//x"),
    ];
    for (text, target) in cases {
        assert_eq!(url(text).target, target, "{text}");
    }
}

#[test]
fn h2c_is_http_over_http2() {
    let h2c = url("H2C://u:p@Foo.test/a?b");
    assert_eq!((h2c.tls, h2c.h2c, h2c.port, h2c.scheme()), (false, true, 80, "h2c"));
    assert_eq!(h2c.text, "h2c://****:****@Foo.test/a?b");
    assert!(h2c.join("/c").unwrap().h2c, "a relative reference keeps the scheme");
    for absolute in ["http://foo.test/", "https://foo.test/"] {
        assert!(!h2c.join(absolute).unwrap().h2c, "{absolute}");
    }
    assert!(url("http://h/").join("h2c://h/").unwrap().h2c);
}

#[test]
fn texts_are_those_of_k6() {
    let cases = [
        ("http://h?a", "http://h?a"),
        ("HTTP://Foo.test/CaSe", "http://Foo.test/CaSe"),
        ("http://h/a b?c d", "http://h/a%20b?c d"),
        ("http://h/x#é", "http://h/x#%C3%A9"),
        ("http://h/a?b?c#d#e", "http://h/a?b?c#d%23e"),
        ("http://bücher.test/x", "http://b%C3%BCcher.test/x"),
        ("http://user:pw@h/u?a#b", "http://****:****@h/u?a#b"),
        ("http://user@h/u", "http://****@h/u"),
        ("http://:pw@h/u", "http://****:****@h/u"),
    ];
    for (text, shown) in cases {
        assert_eq!(url(text).text, shown, "{text}");
    }
    assert_eq!(url("http://u@ser:p@h/at").full_text(), "http://u%40ser:p@h/at");
}

#[test]
fn hosts_ports_and_authorities() {
    let cases = [
        ("http://FOO.test:80/", "foo.test", 80, "FOO.test:80"),
        ("https://foo.test", "foo.test", 443, "foo.test"),
        ("https://foo.test:/", "foo.test", 443, "foo.test"),
        ("http://[::1]:18091/v6", "::1", 18091, "[::1]:18091"),
        ("http://[FE80::1%25lo]/", "fe80::1", 80, "[FE80::1]"),
        ("http://bücher.test:8/x", "xn--bcher-kva.test", 8, "xn--bcher-kva.test:8"),
        ("http://b%C3%BCcher.test/x", "xn--bcher-kva.test", 80, "xn--bcher-kva.test"),
        ("http://a<b/", "a<b", 80, "a<b"),
    ];
    for (text, host, port, authority) in cases {
        let u = url(text);
        assert_eq!((u.host.as_str(), u.port, u.authority.as_str()), (host, port, authority), "{text}");
    }
}

#[test]
fn characters_that_stand_for_a_space_are_no_host() {
    for text in ["http://1.2.3.4\u{202f}/", "http://1.\u{203e}2.3.4/", "http://a\u{a0}b/", "http://\u{3000}x.test/"] {
        let error = Url::parse(text).unwrap_err();
        assert_eq!((error.kind, error.message.as_str()), (FailureKind::NoSuchHost, "lookup: no such host"), "{text:?}");
    }
}

#[test]
fn userinfo_is_decoded() {
    assert_eq!(url("http://us%20er:p%40s%73@h/").userinfo, Some(("us er".into(), Some("p@ss".into()))));
    assert_eq!(url("http://user@h/").userinfo, Some(("user".into(), None)));
    assert_eq!(url("http://u@ser:p@h/").userinfo, Some(("u@ser".into(), Some("p".into()))));
    assert_eq!(url("http://h/a@b").userinfo, None);
}

#[test]
fn errors_are_those_of_k6() {
    let parse = |url: &str, why: &str| (format!("invalid URL: parse {}: {why}", quote(url)), FailureKind::InvalidUrl);
    let cases = [
        ("http://h/%zz", parse("http://h/%zz", "invalid URL escape \"%zz\"")),
        ("http://h/%", parse("http://h/%", "invalid URL escape \"%\"")),
        ("http://[::1", parse("http://[::1", "missing ']' in host")),
        ("http://[::1]x:18091", parse("http://[::1]x:18091", "invalid port \"x:18091\" after host")),
        ("http://h:abc/", parse("http://h:abc/", "invalid port \":abc\" after host")),
        ("http://h:-1/", parse("http://h:-1/", "invalid port \":-1\" after host")),
        ("ht!tp://x", parse("ht!tp://x", "first path segment in URL cannot contain colon")),
        ("1http://x", parse("1http://x", "first path segment in URL cannot contain colon")),
        ("://x", parse("://x", "missing protocol scheme")),
        ("http://h/a\nb", parse("http://h/a\nb", "net/url: invalid control character in URL")),
        ("http://a b/", parse("http://a b/", "invalid character \" \" in host name")),
        ("http://a%20b/", parse("http://a%20b/", "invalid URL escape \"%20\"")),
        ("http://u ser@h/", parse("http://u ser@h/", "net/url: invalid userinfo")),
        ("http://h:99999/", (String::from("dial tcp: address 99999: invalid port"), FailureKind::Dial)),
        ("ftp://x/", (String::from("unsupported protocol scheme \"ftp\""), FailureKind::Other)),
        ("//foo/bar", (String::from("unsupported protocol scheme \"\""), FailureKind::Other)),
        ("", (String::from("unsupported protocol scheme \"\""), FailureKind::Other)),
        ("http:", (String::from("http: no Host in request URL"), FailureKind::Other)),
        ("http:///x", (String::from("http: no Host in request URL"), FailureKind::Other)),
        ("http:x", (String::from("http: no Host in request URL"), FailureKind::Other)),
    ];
    for (text, expected) in cases {
        assert_eq!(error(text), expected, "{text}");
    }
    assert_eq!(
        error("http://h/\x7f").0,
        "invalid URL: parse \"http://h/\\x7f\": net/url: invalid control character in URL"
    );
}

#[test]
fn references_resolve_as_in_rfc_3986_section_5_4() {
    let base = url("http://a/b/c/d;p?q");
    let cases = [
        ("g", "http://a/b/c/g"),
        ("./g", "http://a/b/c/g"),
        ("g/", "http://a/b/c/g/"),
        ("/g", "http://a/g"),
        ("//g", "http://g"),
        ("?y", "http://a/b/c/d;p?y"),
        ("g?y", "http://a/b/c/g?y"),
        ("#s", "http://a/b/c/d;p?q#s"),
        ("g;x=1/./y", "http://a/b/c/g;x=1/y"),
        ("", "http://a/b/c/d;p?q"),
        (".", "http://a/b/c/"),
        ("..", "http://a/b/"),
        ("../g", "http://a/b/g"),
        ("../../../g", "http://a/g"),
        ("/./g", "http://a/g"),
        ("g..", "http://a/b/c/g.."),
        ("g/./h", "http://a/b/c/g/h"),
        ("g/../h", "http://a/b/c/h"),
        ("g?y/../x", "http://a/b/c/g?y/../x"),
        ("http://x/a/../b", "http://x/b"),
        ("https://y", "https://y"),
    ];
    for (reference, expected) in cases {
        assert_eq!(base.join(reference).unwrap().text, expected, "{reference}");
    }
    assert_eq!(url("http://h").join("x").unwrap().text, "http://h/x");
    assert_eq!(url("http://u:p@h/a").join("/b").unwrap().full_text(), "http://u:p@h/b");
    assert_eq!(url("http://u:p@h/a").join("http://h/b").unwrap().userinfo, None);
    assert_eq!(base.join("ftp://x").unwrap_err().kind, FailureKind::Other);
}

#[test]
fn random_texts_never_panic_and_keep_the_wire_clean() {
    let pieces = [
        "http://",
        "https:",
        "h",
        ":",
        "/",
        "..",
        "?",
        "#",
        "@",
        "[",
        "]",
        "::1",
        "%",
        "%41",
        "é",
        "\u{10ffff}",
        " ",
        "\\",
        "99",
        "\t",
        "xn--",
        ".",
    ];
    let mut rng = fastrand::Rng::with_seed(7);
    let base = url("http://u:p@h:1/a/b?c#d");
    let mut parsed = 0;
    for round in 0..40_000 {
        let mut text: String = if round % 2 == 0 { "http://".into() } else { String::new() };
        (0..rng.usize(0..9)).for_each(|_| text.push_str(pieces[rng.usize(0..pieces.len())]));
        for found in [Url::parse(&text), base.join(&text)].into_iter().flatten() {
            parsed += 1;
            assert!(found.target.starts_with('/'), "{text:?} gave {:?}", found.target);
            assert!(found.target.bytes().chain(found.authority.bytes()).all(|b| b > b' ' && b < 0x7f), "{text:?}");
            let again = url(found.full_text());
            assert_eq!((&again.target, &again.host, again.port), (&found.target, &found.host, found.port), "{text:?}");
        }
    }
    assert!(parsed > 1000, "only {parsed} texts parsed: the generator tests nothing");
}
