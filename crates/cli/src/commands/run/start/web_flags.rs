//! `--web` and the flags that go with it, with the variables of k6's dashboard and the parameters of
//! `--out web-dashboard`, which is the same page.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use script::options::parse_switch;
use units::Span;

use crate::commands::run::start::flag_source::FlagSource;
use crate::commands::run::start::output_flags;
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
    /// None without `--web` and `--out web-dashboard`: as in k6, the other variables alone switch nothing on.
    pub fn read(source: &FlagSource<'_>) -> Result<Option<WebFlags>, Failure> {
        let dashboard = output_flags::dashboard(source)?;
        if !source.switch("web", false)? && dashboard.is_none() {
            let own = ["web-host", "web-port", "web-period", "web-open", "web-export"];
            return match own.into_iter().find(|name| source.is_given(name)) {
                Some(name) => Err(refuse(format!("--{name} is about the page: give --web as well, or leave it out"))),
                None => Ok(None),
            };
        }
        let said = Said { source, dashboard: dashboard.unwrap_or_default() };
        let host = said.text("web-host").unwrap_or_else(|| String::from("127.0.0.1"));
        let port = match said.text("web-port").as_deref() {
            None => Some(5665),
            Some("-1") => None,
            Some(text) => Some(text.parse().map_err(|_| {
                let expected = "expected a port, 0 for any that is free, or -1 for none";
                refuse(format!("{}: found '{text}', {expected}", said.place("web-port")))
            })?),
        };
        let period = match said.text("web-period") {
            None => Duration::from_secs(1),
            Some(text) => match Span::parse(&text).map(|time| time.or_zero()) {
                Ok(time) if !time.is_zero() => time,
                _ => {
                    let place = said.place("web-period");
                    return Err(refuse(format!("{place}: found '{text}', expected a time such as 1s")));
                }
            },
        };
        let opens = said.text("web-open").map_or(Ok(false), |text| {
            let wrong = || refuse(format!("{}: found '{text}', expected true or false", said.place("web-open")));
            parse_switch(&text).ok_or_else(wrong)
        })?;
        let listen = port.map(|port| (host, port));
        let export = said.text("web-export").map(PathBuf::from);
        Ok(Some(WebFlags { listen, period, opens, export }))
    }
}

/// Where a word on the page comes from: the flag, else the parameter of `--out web-dashboard`, else the variable.
struct Said<'a> {
    source: &'a FlagSource<'a>,
    /// Parameters by their flags.
    dashboard: BTreeMap<&'static str, String>,
}

impl Said<'_> {
    fn parameter(&self, flag: &str) -> Option<&String> {
        let parameter = self.dashboard.get(flag).filter(|text| !text.is_empty());
        parameter.filter(|_| !self.source.is_given(flag))
    }

    fn text(&self, flag: &str) -> Option<String> {
        self.parameter(flag).cloned().or_else(|| self.source.text(flag))
    }

    /// Where the word stands, for an error.
    fn place(&self, flag: &str) -> String {
        match self.parameter(flag) {
            Some(_) => format!("--out web-dashboard: {}", flag.trim_start_matches("web-")),
            None => format!("--{flag}"),
        }
    }
}

fn refuse(message: String) -> Failure {
    Failure::new(ExitCode::Generic, message)
}
