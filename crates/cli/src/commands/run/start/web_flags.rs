//! `--web` and the flags that go with it, with the variables of k6's dashboard.

use std::path::PathBuf;
use std::time::Duration;

use units::Span;

use crate::commands::run::start::flag_source::FlagSource;
use crate::exit_code::ExitCode;
use crate::failure::Failure;

/// What was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebFlags {
    /// Where the page is served; none with port -1.
    pub listen: Option<(String, u16)>,
    /// From second to second that is sent.
    pub period: Duration,
    /// Whether a browser is opened.
    pub opens: bool,
    /// Where the report goes at the end.
    pub export: Option<PathBuf>,
}

impl WebFlags {
    /// None without `--web`: as in k6, the other variables alone switch nothing on.
    pub fn read(source: &FlagSource<'_>) -> Result<Option<WebFlags>, Failure> {
        if !source.switch("web", false)? {
            let own = ["web-host", "web-port", "web-period", "web-open", "web-export"];
            return match own.into_iter().find(|name| source.is_given(name)) {
                Some(name) => Err(refuse(format!("--{name} is about the page: give --web as well, or leave it out"))),
                None => Ok(None),
            };
        }
        let host = source.text("web-host").unwrap_or_else(|| String::from("127.0.0.1"));
        let port = match source.text("web-port").as_deref() {
            None => Some(5665),
            Some("-1") => None,
            Some(text) => Some(text.parse().map_err(|_| {
                refuse(format!("--web-port: found '{text}', expected a port, 0 for any that is free, or -1 for none"))
            })?),
        };
        let period = match source.text("web-period") {
            None => Duration::from_secs(1),
            Some(text) => match Span::parse(&text).map(|time| time.or_zero()) {
                Ok(time) if !time.is_zero() => time,
                _ => return Err(refuse(format!("--web-period: found '{text}', expected a time such as 1s"))),
            },
        };
        let listen = port.map(|port| (host, port));
        let export = source.text("web-export").map(PathBuf::from);
        Ok(Some(WebFlags { listen, period, opens: source.switch("web-open", false)?, export }))
    }
}

fn refuse(message: String) -> Failure {
    Failure::new(ExitCode::Generic, message)
}
