//! The one list of flags that a quick run understands beside those of `run`: curl's, and the few that say how much
//! load.
//!
//! What curl has and Onrush cannot do is in the list as well, with what to do instead: a flag that changes the request
//! is never ignored. What only concerns curl's output is accepted, because pasted commands are full of it. Long names
//! mean the same everywhere; what a letter means depends on the dialect, which `line.rs` knows.

use self::Act::*;

/// What a flag asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// `-X`.
    Method,
    /// `-H`.
    Header,
    /// `-d`: `@file` without its line breaks.
    Data,
    /// `--data-raw`: no `@`.
    DataRaw,
    /// `--data-binary`: `@file` as it is.
    DataBinary,
    /// `--data-urlencode`.
    DataUrlencode,
    /// `--json`.
    Json,
    /// `-F`.
    Form,
    /// `--form-string`.
    FormString,
    /// `-G`: data goes to the query.
    Get,
    /// `-I`.
    Head,
    /// `-T`.
    Upload,
    /// `-u name:password`.
    User,
    /// `--digest`.
    Digest,
    /// `--oauth2-bearer`.
    Bearer,
    /// `-A`.
    UserAgent,
    /// `-b`.
    Cookie,
    /// `-e`.
    Referer,
    /// `-L`.
    Location,
    /// `--max-redirs`.
    MaxRedirects,
    /// `--compressed`.
    Compressed,
    /// `-k`.
    Insecure,
    /// `--abstract-unix-socket`.
    AbstractUnixSocket,
    /// `--unix-socket`.
    UnixSocket,
    /// `--resolve`.
    Resolve,
    /// `--connect-to`.
    ConnectTo,
    /// `-m`.
    MaxTime,
    /// `-r`.
    Range,
    /// `-4`, `-6`: value of `dns.policy`.
    Addresses(&'static str),
    /// `-E`.
    Certificate,
    /// `--key`.
    Key,
    /// `--tlsv1.2`: value of `tlsVersion.min`.
    TlsLowest(&'static str),
    /// `--tls-max`.
    TlsHighest,
    /// `--url`.
    Url,
    /// `--url-query`.
    UrlQuery,
    /// `--path-as-is`.
    PathAsIs,
    /// `-g`.
    Globoff,
    /// `--http1.1`: HTTP/2 is not offered.
    Http1,
    /// `--http2`: the TLS server chooses.
    Http2,
    /// `--http2-prior-knowledge`: HTTP/2 without TLS.
    PriorKnowledge,
    /// Users at a time.
    Vus,
    /// How long.
    Duration,
    /// Requests in all.
    Requests,
    /// Requests per unit of time, on schedule.
    Rate,
    /// Streams at once on a connection of HTTP/2.
    Streams,
    /// Ramp.
    Stage,
    /// Print the script instead of running it.
    ShowScript,
    /// A flag of `run` without value, by its long name.
    Own(&'static str),
    /// A flag of `run` with a value, by its long name.
    OwnValue(&'static str),
    /// Concerns what curl prints, keeps or how long it tries.
    Output,
    /// Asks for what happens anyway.
    Usual,
    /// Cannot be done; says what to do instead.
    Refused(&'static str),
}

impl Act {
    /// Whether it says how much load.
    pub fn is_load(self) -> bool {
        matches!(self, Vus | Duration | Requests | Rate | Streams | Stage | OwnValue(_))
    }
}

/// One flag.
#[derive(Debug)]
pub struct Flag {
    /// Without the dashes.
    pub long: &'static str,
    /// curl's letter.
    pub letter: Option<char>,
    /// Whether something follows it.
    pub takes_value: bool,
    /// What it asks for.
    pub act: Act,
}

const fn alone(long: &'static str, letter: Option<char>, act: Act) -> Flag {
    Flag { long, letter, takes_value: false, act }
}

const fn with(long: &'static str, letter: Option<char>, act: Act) -> Flag {
    Flag { long, letter, takes_value: true, act }
}

const PROTOCOL: Act = Refused("Onrush speaks HTTP/1.1 and HTTP/2 (--http1.1, --http2); leave it out");
const ONE_REQUEST: Act = Refused("a quick run repeats one request; put several into a script");
const NO_AUTH: Act =
    Refused("only basic (-u) and digest authentication are supported; send the header with -H instead");
const PROXY: Act = Refused("set the environment variables HTTP_PROXY, HTTPS_PROXY and NO_PROXY instead");
const TRUST: Act =
    Refused("set the environment variable SSL_CERT_FILE or SSL_CERT_DIR, or accept any certificate with -k");
const NO_RETRY: Act = Refused("a request that failed is counted, not repeated; leave it out");
const NO_CHOICE: Act = Refused("this cannot be chosen; leave it out");

/// Every flag, curl's letters beside them.
#[rustfmt::skip]
pub static FLAGS: &[Flag] = &[
    with("request", Some('X'), Method),
    with("header", Some('H'), Header),
    with("data", Some('d'), Data),
    with("data-ascii", None, Data),
    with("data-raw", None, DataRaw),
    with("data-binary", None, DataBinary),
    with("data-urlencode", None, DataUrlencode),
    with("json", None, Json),
    with("form", Some('F'), Form),
    with("form-string", None, FormString),
    alone("get", Some('G'), Get),
    alone("head", Some('I'), Head),
    with("upload-file", Some('T'), Upload),
    with("user", Some('u'), User),
    alone("digest", None, Digest),
    with("oauth2-bearer", None, Bearer),
    with("user-agent", Some('A'), UserAgent),
    with("cookie", Some('b'), Cookie),
    with("referer", Some('e'), Referer),
    alone("location", Some('L'), Location),
    with("max-redirs", None, MaxRedirects),
    alone("compressed", None, Compressed),
    alone("insecure", Some('k'), Insecure),
    with("unix-socket", None, UnixSocket),
    with("abstract-unix-socket", None, AbstractUnixSocket),
    with("resolve", None, Resolve),
    with("connect-to", None, ConnectTo),
    with("max-time", Some('m'), MaxTime),
    with("range", Some('r'), Range),
    alone("ipv4", Some('4'), Addresses("onlyIPv4")),
    alone("ipv6", Some('6'), Addresses("onlyIPv6")),
    with("cert", Some('E'), Certificate),
    with("key", None, Key),
    alone("tlsv1", Some('1'), TlsLowest("tls1.0")),
    alone("tlsv1.0", None, TlsLowest("tls1.0")),
    alone("tlsv1.1", None, TlsLowest("tls1.1")),
    alone("tlsv1.2", None, TlsLowest("tls1.2")),
    alone("tlsv1.3", None, TlsLowest("tls1.3")),
    with("tls-max", None, TlsHighest),
    with("url", None, Url),
    with("url-query", None, UrlQuery),
    alone("path-as-is", None, PathAsIs),
    alone("globoff", Some('g'), Globoff),
    alone("http1.1", None, Http1),
    alone("no-alpn", None, Http1),
    alone("http2", None, Http2),
    alone("http2-prior-knowledge", None, PriorKnowledge),

    with("vus", None, Vus),
    with("connections", None, Vus),
    with("duration", None, Duration),
    with("requests", None, Requests),
    with("iterations", None, Requests),
    with("rate", None, Rate),
    with("streams", None, Streams),
    with("stage", None, Stage),
    with("threads", None, OwnValue("workers")),
    alone("show-script", None, ShowScript),

    alone("remote-time", Some('R'), Output),
    alone("silent", Some('s'), Output),
    alone("show-error", Some('S'), Output),
    with("output", Some('o'), Output),
    alone("remote-name", Some('O'), Output),
    alone("remote-name-all", None, Output),
    alone("remote-header-name", Some('J'), Output),
    with("output-dir", None, Output),
    alone("create-dirs", None, Output),
    alone("clobber", None, Output),
    alone("no-clobber", None, Output),
    alone("remove-on-error", None, Output),
    alone("include", Some('i'), Output),
    alone("fail", Some('f'), Output),
    alone("fail-early", None, Output),
    alone("fail-with-body", None, Output),
    alone("verbose", Some('v'), Output),
    with("write-out", Some('w'), Output),
    alone("progress-bar", Some('#'), Output),
    alone("no-progress-meter", None, Output),
    with("dump-header", Some('D'), Output),
    with("trace", None, Output),
    with("trace-ascii", None, Output),
    alone("trace-time", None, Output),
    alone("no-buffer", Some('N'), Output),
    alone("buffer", None, Output),
    alone("progress-meter", None, Output),
    with("stderr", None, Output),
    alone("styled-output", None, Output),
    alone("no-styled-output", None, Output),
    alone("raw", None, Output),
    alone("xattr", None, Output),
    with("libcurl", None, Output),
    with("cookie-jar", Some('c'), Output),
    alone("junk-session-cookies", Some('j'), Output),
    with("connect-timeout", None, Output),
    with("expect100-timeout", None, Output),

    alone("basic", None, Usual),
    alone("tcp-nodelay", None, Usual),
    alone("disable", Some('q'), Usual),
    with("keepalive-time", None, Usual),
    alone("keepalive", None, Usual),
    alone("alpn", None, Usual),
    alone("npn", None, Usual),
    alone("no-npn", None, Usual),
    alone("sessionid", None, Usual),
    alone("no-sessionid", None, Usual),

    alone("http1.0", Some('0'), PROTOCOL),
    alone("http0.9", None, PROTOCOL),
    alone("http3", None, PROTOCOL),
    alone("http3-only", None, PROTOCOL),
    alone("next", Some(':'), ONE_REQUEST),
    alone("parallel", Some('Z'), ONE_REQUEST),
    with("config", Some('K'), Refused("write its flags on the command line")),
    with("proxy", Some('x'), PROXY),
    with("proxy-user", Some('U'), PROXY),
    with("preproxy", None, PROXY),
    with("noproxy", None, PROXY),
    with("socks4", None, PROXY),
    with("socks4a", None, PROXY),
    with("socks5", None, PROXY),
    with("socks5-hostname", None, PROXY),
    alone("proxytunnel", Some('p'), PROXY),
    alone("anyauth", None, NO_AUTH),
    alone("ntlm", None, NO_AUTH),
    alone("negotiate", None, NO_AUTH),
    with("aws-sigv4", None, NO_AUTH),
    alone("netrc", Some('n'), NO_AUTH),
    alone("netrc-optional", None, NO_AUTH),
    with("netrc-file", None, NO_AUTH),
    with("cacert", None, TRUST),
    with("capath", None, TRUST),
    with("pinnedpubkey", None, TRUST),
    with("cert-type", None, Refused("certificates are read as PEM; convert it")),
    with("key-type", None, Refused("keys are read as PEM; convert it")),
    with("pass", None, Refused("write the password behind the certificate: --cert FILE:PASSWORD")),
    with("ciphers", None, NO_CHOICE),
    with("tls13-ciphers", None, NO_CHOICE),
    with("curves", None, NO_CHOICE),
    with("limit-rate", None, Refused("give each user a link instead: --network download=10mbps,upload=10mbps")),
    with("interface", None, Refused("name the addresses to connect from instead: --local-ips 10.0.0.5")),
    with("local-port", None, NO_CHOICE),
    with("retry", None, NO_RETRY),
    with("retry-delay", None, NO_RETRY),
    with("retry-max-time", None, NO_RETRY),
    alone("retry-all-errors", None, NO_RETRY),
    alone("retry-connrefused", None, NO_RETRY),
    with("time-cond", Some('z'), Refused("send the header instead: -H 'If-Modified-Since: …'")),
    with("etag-save", None, Refused("send the header instead: -H 'If-None-Match: …'")),
    with("etag-compare", None, Refused("send the header instead: -H 'If-None-Match: …'")),
    with("continue-at", Some('C'), Refused("send the header instead: -H 'Range: bytes=100-'")),
    alone("location-trusted", None, Refused("passwords are not sent to other hosts; write a script for that")),
    alone("post301", None, Refused("redirects of a POST are followed as browsers do; leave it out")),
    alone("post302", None, Refused("redirects of a POST are followed as browsers do; leave it out")),
    alone("post303", None, Refused("redirects of a POST are followed as browsers do; leave it out")),
    with("request-target", None, Refused("put the target into the URL")),
    alone("haproxy-protocol", None, NO_CHOICE),
    with("doh-url", None, Refused("name the address instead: --resolve HOST:PORT:ADDRESS")),
    with("dns-servers", None, Refused("name the address instead: --resolve HOST:PORT:ADDRESS")),
    alone("tr-encoding", None, NO_CHOICE),
    alone("crlf", None, NO_CHOICE),
    alone("form-escape", None, Refused("names in forms are escaped with percent signs, as browsers do; leave it out")),
    with("max-filesize", None, NO_CHOICE),
    with("speed-limit", Some('Y'), Refused("limit the time of the whole request instead: -m SECONDS")),
    with("speed-time", Some('y'), Refused("limit the time of the whole request instead: -m SECONDS")),
    alone("use-ascii", Some('B'), NO_CHOICE),
    alone("append", Some('a'), NO_CHOICE),
    with("quote", Some('Q'), NO_CHOICE),
    with("telnet-option", Some('t'), NO_CHOICE),
    with("ftp-port", Some('P'), NO_CHOICE),
];

/// Flags of curl that are on or off, which `--no-NAME` turns off.
#[rustfmt::skip]
static SWITCHES: [&str; 108] = [
    "alpn", "anyauth", "append", "basic", "buffer", "ca-native", "cert-status", "clobber", "compressed",
    "compressed-ssh", "create-dirs", "crlf", "digest", "disable", "disable-eprt", "disable-epsv",
    "disallow-username-in-url", "doh-cert-status", "doh-insecure", "dump-ca-embed", "fail", "fail-early",
    "fail-with-body", "false-start", "form-escape", "ftp-create-dirs", "ftp-pasv", "ftp-pret", "ftp-skip-pasv-ip",
    "ftp-ssl-ccc", "ftp-ssl-control", "get", "globoff", "haproxy-protocol", "head", "http0.9",
    "ignore-content-length", "include", "insecure", "junk-session-cookies", "keepalive", "list-only", "location",
    "location-trusted", "mail-rcpt-allowfails", "manual", "metalink", "mptcp", "negotiate", "netrc",
    "netrc-optional", "npn", "ntlm", "ntlm-wb", "parallel", "parallel-immediate", "path-as-is", "post301", "post302",
    "post303", "progress-bar", "progress-meter", "proxy-anyauth", "proxy-basic", "proxy-ca-native", "proxy-digest",
    "proxy-http2", "proxy-insecure", "proxy-negotiate", "proxy-ntlm", "proxy-ssl-allow-beast",
    "proxy-ssl-auto-client-cert", "proxytunnel", "raw", "remote-header-name", "remote-name", "remote-name-all",
    "remote-time", "remove-on-error", "retry-all-errors", "retry-connrefused", "sasl-ir", "sessionid", "show-error",
    "silent", "skip-existing", "socks5-basic", "socks5-gssapi", "socks5-gssapi-nec", "ssl", "ssl-allow-beast",
    "ssl-auto-client-cert", "ssl-no-revoke", "ssl-reqd", "ssl-revoke-best-effort", "styled-output",
    "suppress-connect-headers", "tcp-fastopen", "tcp-nodelay", "tftp-no-options", "tls-earlydata", "tr-encoding",
    "trace-ids", "trace-time", "use-ascii", "verbose", "version", "xattr",
];

/// Whether curl knows `--no-NAME` of it.
pub fn is_switch(long: &str) -> bool {
    SWITCHES.contains(&long)
}

/// The flag of this long name.
pub fn by_name(long: &str) -> Option<&'static Flag> {
    FLAGS.iter().find(|flag| flag.long == long)
}

/// The flag of this letter, as curl has it.
pub fn by_letter(letter: char) -> Option<&'static Flag> {
    FLAGS.iter().find(|flag| flag.letter == Some(letter))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_and_letter_is_there_once() {
        for (index, flag) in FLAGS.iter().enumerate() {
            let others = &FLAGS[index + 1..];
            assert!(others.iter().all(|other| other.long != flag.long), "--{} twice", flag.long);
            assert!(
                others.iter().all(|other| flag.letter.is_none() || other.letter != flag.letter),
                "-{:?}",
                flag.letter
            );
            assert!(!flag.long.starts_with('-'));
        }
    }

    #[test]
    fn what_can_be_turned_off_takes_no_value() {
        for name in SWITCHES {
            assert!(by_name(name).is_none_or(|flag| !flag.takes_value), "--{name}");
        }
    }

    #[test]
    fn what_is_refused_says_what_to_do() {
        for flag in FLAGS {
            if let Refused(instead) = flag.act {
                assert!(instead.len() > 20 && !instead.ends_with('.'), "--{}", flag.long);
            }
        }
    }
}
