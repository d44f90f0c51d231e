//! `--traces-output`: read and checked as k6 does it. Nothing is sent: k6 makes spans in `k6/browser` alone, its
//! requests make none and carry no `traceparent`; and there is no browser here.

use units::suggest;

/// Said once when the flag names a receiver.
pub const NOTHING_TO_SEND: &str = "--traces-output: no spans will be sent, because k6 makes them in k6/browser alone, \
                                   which is not offered; to find requests in the traces of the target, set the header \
                                   traceparent in the script";

/// Whether a receiver is named; what is wrong with the text.
pub fn read(text: &str) -> Result<bool, String> {
    let wrong = |what: String| format!("--traces-output {text}: {what}");
    let (kind, argument) = text.split_once('=').unwrap_or((text, ""));
    match kind {
        "none" if argument.is_empty() => return Ok(false),
        "otel" => {}
        _ => {
            let hint = suggest::hint(kind, ["none", "otel"]);
            return Err(wrong(format!(
                "found '{kind}'{hint}, expected none or otel[=URL,proto=http|grpc,header.NAME=TEXT]"
            )));
        }
    }
    let mut parts = argument.split(',');
    let url = parts.next().unwrap_or_default();
    if !url.is_empty() && !url.starts_with("http://") && !url.starts_with("https://") {
        return Err(wrong(format!("found '{url}', expected a URL that begins with http:// or https://")));
    }
    for part in parts {
        match part.split_once('=') {
            Some(("proto", "http" | "grpc")) => {}
            Some(("proto", other)) => return Err(wrong(format!("proto: found '{other}', expected http or grpc"))),
            Some((key, _)) if key.strip_prefix("header.").is_some_and(|name| !name.is_empty()) => {}
            _ => return Err(wrong(format!("found '{part}', expected proto=http, proto=grpc or header.NAME=TEXT"))),
        }
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_k6_takes_is_taken_and_what_is_wrong_is_named() {
        let taken = ["none", "otel", "otel=http://h:4318,proto=http", "otel=https://h,proto=grpc,header.a=b=c"];
        assert_eq!(taken.map(read), [Ok(false), Ok(true), Ok(true), Ok(true)]);
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
