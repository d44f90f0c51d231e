//! What `--traces-output` says: `none`, or `otel[=URL,proto=http|grpc,header.NAME=TEXT]`, as k6 takes it.
//!
//! Refuses addresses without a scheme, because whether to use TLS would be a guess.

use std::time::Duration;

use units::suggest;
use wire::Url;

use super::settings::Protocol;
use crate::post::Address;

/// Where spans go, and how.
#[derive(Debug)]
pub(crate) struct TraceSettings {
    pub(crate) address: Address,
    pub(crate) protocol: Protocol,
}

/// The method of a collector that takes spans.
pub(super) const EXPORT: &str = "/opentelemetry.proto.collector.trace.v1.TraceService/Export";

const HTTP_PATH: &str = "/v1/traces";
const HTTP_PORT: u16 = 4318;
const STANDARD_GRPC: &str = "http://127.0.0.1:4317";
const STANDARD_HTTP: &str = "http://127.0.0.1:4318";
const TIMEOUT: Duration = Duration::from_secs(10);

impl TraceSettings {
    /// Reads it; nothing of `none`. The error says what is wrong with the text.
    pub(crate) fn read(text: &str) -> Result<Option<TraceSettings>, String> {
        let wrong = |what: String| format!("--traces-output {text}: {what}");
        let (kind, argument) = text.split_once('=').unwrap_or((text, ""));
        match kind {
            "none" if argument.is_empty() => Ok(None),
            "otel" => Self::of_argument(argument).map(Some).map_err(wrong),
            _ => {
                let hint = suggest::hint(kind, ["none", "otel"]);
                Err(wrong(format!(
                    "found '{kind}'{hint}, expected none or otel[=URL,proto=http|grpc,header.NAME=TEXT]"
                )))
            }
        }
    }

    fn of_argument(argument: &str) -> Result<TraceSettings, String> {
        let mut parts = argument.split(',');
        let url = parts.next().unwrap_or_default();
        let (mut protocol, mut headers) = (None, Vec::new());
        for part in parts {
            match part.split_once('=') {
                Some(("proto", "http")) => protocol = Some(Protocol::Http),
                Some(("proto", "grpc")) => protocol = Some(Protocol::Grpc),
                Some(("proto", other)) => return Err(format!("proto: found '{other}', expected http or grpc")),
                Some((key, value)) if key.strip_prefix("header.").is_some_and(|name| !name.is_empty()) => {
                    headers.push((key.trim_start_matches("header.").to_owned(), value.to_owned()));
                }
                _ => return Err(format!("found '{part}', expected proto=http, proto=grpc or header.NAME=TEXT")),
            }
        }
        let (mut address, protocol) = place(url, protocol)?;
        headers.into_iter().for_each(|(name, value)| address.header(&name, value));
        Ok(TraceSettings { address, protocol })
    }
}

/// The whole URL. Without a protocol a path, or the port of OTLP over HTTP, says that it is HTTP; else it is gRPC, as
/// in k6.
fn place(url: &str, protocol: Option<Protocol>) -> Result<(Address, Protocol), String> {
    let parsed = if url.is_empty() { None } else { Some(crate::post::check(url)?) };
    let has_path = |url: &Url| !matches!(url.target.as_str(), "" | "/");
    let is_of_http = parsed.as_ref().is_some_and(|url| has_path(url) || url.port == HTTP_PORT);
    let protocol = protocol.unwrap_or(if is_of_http { Protocol::Http } else { Protocol::Grpc });
    let standard = if protocol == Protocol::Http { STANDARD_HTTP } else { STANDARD_GRPC };
    let origin = if url.is_empty() { standard } else { url };
    let whole = match protocol {
        Protocol::Http if parsed.as_ref().is_some_and(has_path) => origin.to_owned(),
        Protocol::Http => format!("{}{HTTP_PATH}", origin.trim_end_matches('/')),
        Protocol::Grpc => origin.trim_end_matches('/').to_owned(),
    };
    let mut address = Address::new("the URL", &whole, TIMEOUT)?;
    if protocol == Protocol::Http {
        address.header("Content-Type", "application/x-protobuf");
    }
    Ok((address, protocol))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Option<(String, Protocol)>, String> {
        TraceSettings::read(text).map(|settings| settings.map(|found| (found.address.url, found.protocol)))
    }

    #[test]
    fn what_k6_takes_is_taken() {
        let found = |url: &str, protocol| Ok(Some((url.to_owned(), protocol)));
        assert_eq!(read("none"), Ok(None));
        assert_eq!(read("otel"), found("http://127.0.0.1:4317", Protocol::Grpc));
        assert_eq!(read("otel=,proto=http"), found("http://127.0.0.1:4318/v1/traces", Protocol::Http));
        assert_eq!(read("otel=http://h:4318,proto=http"), found("http://h:4318/v1/traces", Protocol::Http));
        assert_eq!(read("otel=http://h:4318/"), found("http://h:4318/v1/traces", Protocol::Http));
        assert_eq!(read("otel=https://h/otlp/v1/traces"), found("https://h/otlp/v1/traces", Protocol::Http));
        assert_eq!(read("otel=https://h,proto=grpc,header.a=b=c"), found("https://h", Protocol::Grpc));
        let headers = TraceSettings::read("otel=https://h,header.a=b=c").unwrap().unwrap().address.headers;
        assert_eq!(headers, [(String::from("a"), String::from("b=c"))]);
    }

    #[test]
    fn what_is_wrong_is_named() {
        let wrong = |text| read(text).expect_err("refused");
        let forms = "expected none or otel[=URL,proto=http|grpc,header.NAME=TEXT]";
        assert_eq!(wrong("otle"), format!("--traces-output otle: found 'otle'; did you mean 'otel'?, {forms}"));
        let url = "--traces-output otel=h:1: found 'h:1', expected a URL that begins with http:// or https://";
        assert_eq!(wrong("otel=h:1"), url);
        assert!(wrong("otel=http://h,proto=x").ends_with("proto: found 'x', expected http or grpc"));
        assert!(
            wrong("otel=http://h,a=b").ends_with("found 'a=b', expected proto=http, proto=grpc or header.NAME=TEXT")
        );
    }
}
