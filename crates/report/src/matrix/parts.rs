//! Variants: what the plan says of a server and of a load, put together with what it says for all of them, and filled
//! with the names of one cell.
//!
//! The variant comes before the plan, field by field; a kind of server or of load that a variant names replaces the
//! plan's kind altogether.

use std::collections::BTreeMap;

use super::cells::{Cell, built_in, scalar};
use super::figures;
use super::plan::{Body, Command, Load, Number, Plan, PlanError, Ready, Serve, Server, Stats, Variant};
use super::server_stats;
use super::template::{self, TemplateError};
use super::time::Time;

/// A server of one variant in one cell, every placeholder filled.
#[derive(Clone, Debug, PartialEq)]
pub struct ServerSpec {
    /// Which kind.
    pub kind: ServerKind,
    /// The folder it starts in; the plan's when absent.
    pub directory: Option<String>,
    /// What tells that it is ready.
    pub ready: Ready,
    /// Where its own statistics come from.
    pub stats: Option<Stats>,
    /// Environment beyond that of the process.
    pub env: BTreeMap<String, String>,
}

/// The kinds of servers.
#[derive(Clone, Debug, PartialEq)]
pub enum ServerKind {
    /// The built-in target.
    Serve(Serve),
    /// A command.
    Command(Command),
    /// It runs already, here.
    Address(String),
    /// The load needs none, or brings its own.
    None,
}

/// A load of one variant in one cell, every placeholder filled.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadSpec {
    /// Which kind.
    pub kind: LoadKind,
    /// Virtual users: connections at a time.
    pub connections: u64,
    /// When it ends.
    pub amount: Amount,
    /// Which of these two the plan says; a script may say them itself.
    pub given: Given,
    /// Requests to start per second.
    pub rate: Option<f64>,
    /// Requests a connection carries.
    pub requests_per_connection: Option<u64>,
    /// The unix socket to connect to.
    pub unix: Option<String>,
    /// Accept any certificate.
    pub insecure: bool,
    /// Flags of `onrush run`.
    pub flags: Vec<String>,
    /// Another build of Onrush.
    pub binary: Option<String>,
    /// Environment beyond that of the process.
    pub env: BTreeMap<String, String>,
}

/// The kinds of loads.
#[derive(Clone, Debug, PartialEq)]
pub enum LoadKind {
    /// Requests to a URL.
    Url {
        /// Where to.
        url: String,
        /// As in the request line.
        method: String,
        /// Headers.
        headers: BTreeMap<String, String>,
        /// What is sent.
        body: Option<BodySpec>,
    },
    /// A script for `onrush run`.
    Script(String),
    /// Another program and the expressions that read its output.
    Command(Command, Vec<String>),
}

/// A body of requests.
#[derive(Clone, Debug, PartialEq)]
pub enum BodySpec {
    /// This text.
    Text(String),
    /// So many bytes.
    Bytes(u64),
    /// The content of a file, by a path from the plan's folder.
    File(String),
}

/// What the plan says rather than leaves to us.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Given {
    /// `connections`.
    pub connections: bool,
    /// `duration` or `requests`.
    pub amount: bool,
}

/// When a run ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Amount {
    /// After this time.
    Time(Time),
    /// After this many requests.
    Requests(u64),
}

/// Values of the names that the runner gives: `port`, `base`, …
pub type Names = BTreeMap<&'static str, String>;

/// A variant, put together.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// Its name.
    pub name: String,
    server: Server,
    load: Load,
    only: BTreeMap<String, Vec<String>>,
    plan_env: BTreeMap<String, String>,
}

impl Part {
    /// Puts a variant together with what the plan says for all.
    pub fn new(plan: &Plan, variant: &Variant) -> Result<Part, PlanError> {
        let refuse = |problem: String| PlanError::near(format!("variant '{}': {problem}", variant.name), &variant.name);
        let server = merged_server(&plan.server, variant);
        let load = merged_load(&plan.load, variant.load.as_ref());
        let kinds = [server.serve.is_some(), server.command.is_some(), server.address.is_some()];
        if kinds.iter().filter(|there| **there).count() > 1 {
            return Err(refuse(String::from("found several of serve, command and address, expected one")));
        }
        let kinds = [load.url.is_some(), load.script.is_some(), load.command.is_some()];
        match kinds.iter().filter(|there| **there).count() {
            1 => {}
            0 => return Err(refuse(String::from("it has no load: [load] needs a url, a script or a command"))),
            _ => return Err(refuse(String::from("its load has several of url, script and command, expected one"))),
        }
        if load.duration.is_some() && load.requests.is_some() {
            return Err(refuse(String::from("its load has a duration and a number of requests, expected one of them")));
        }
        if load.rate.is_some() && load.requests.is_some() {
            return Err(refuse(String::from(
                "its load has a rate and a number of requests: with a rate, give a duration",
            )));
        }
        if load.script.is_some() && load.rate.is_some() {
            return Err(refuse(String::from(
                "its load has a script and a rate: the script's own options set its rate",
            )));
        }
        if load.command.is_some() {
            figures::check(&load.figures).map_err(|problem| refuse(format!("figures: {problem}")))?;
        }
        if let Some(stats) = &server.stats {
            if stats.url.is_some() == stats.command.is_some() {
                return Err(refuse(String::from("stats: expected either a url or a command")));
            }
            server_stats::check(&stats.names).map_err(|problem| refuse(format!("stats: names: {problem}")))?;
        }
        let only = only(plan, variant)?;
        Ok(Part { name: variant.name.clone(), server, load, only, plan_env: plan.env.clone() })
    }

    /// Whether it runs in this cell.
    pub fn runs_in(&self, cell: &Cell) -> bool {
        self.only.iter().all(|(axis, names)| cell.value_of(axis).is_some_and(|name| names.contains(&name)))
    }

    /// The port the plan asks for.
    pub fn port(&self) -> Option<u16> {
        self.server.port
    }

    /// What `{base}` stands for, with placeholders; none when there is no server.
    pub fn base(&self) -> Option<String> {
        let of_kind = || match (&self.server.address, self.server.serve.is_some() || self.server.command.is_some()) {
            (Some(address), _) => Some(address.clone()),
            (None, true) => Some(String::from("http://127.0.0.1:{port}")),
            (None, false) => None,
        };
        self.server.base.clone().or_else(of_kind)
    }

    /// Its server in this cell.
    pub fn server(&self, cell: &Cell, names: &Names) -> Result<ServerSpec, PlanError> {
        let fill = Fill { part: self, cell, names };
        let Server { serve, command, address, directory, ready, stats, env, .. } = &self.server;
        let kind = match (serve, command, address) {
            (Some(serve), ..) => ServerKind::Serve(Serve {
                app: fill.maybe(&serve.app)?,
                flags: fill.all(&serve.flags)?,
                binary: fill.maybe(&serve.binary)?,
            }),
            (None, Some(command), _) => ServerKind::Command(fill.command(command)?),
            (None, None, Some(address)) => ServerKind::Address(fill.text(address)?),
            (None, None, None) => ServerKind::None,
        };
        let ready = ready.clone().unwrap_or_default();
        let ready = Ready { url: fill.maybe(&ready.url)?, line: fill.maybe(&ready.line)?, timeout: ready.timeout };
        let stats = stats.as_ref().map(|stats| fill.stats(stats)).transpose()?;
        for (field, url) in [("ready", &ready.url), ("stats", &stats.as_ref().and_then(|stats| stats.url.clone()))] {
            if let Some(url) = url.as_ref().filter(|url| !url.starts_with("http://")) {
                let problem = format!("{field}: found the url '{url}', expected one that begins with http://");
                return Err(self.refuse(problem, url));
            }
        }
        Ok(ServerSpec { kind, directory: fill.maybe(directory)?, ready, stats, env: fill.environment(env)? })
    }

    /// Its load in this cell.
    pub fn load(&self, cell: &Cell, names: &Names) -> Result<LoadSpec, PlanError> {
        self.load_for(cell, names, None)
    }

    /// Its load in this cell, for another time than the plan's: a warm-up.
    pub fn load_for(&self, cell: &Cell, names: &Names, amount: Option<Amount>) -> Result<LoadSpec, PlanError> {
        // What the load itself says can be named in its other texts.
        let mut names = names.clone();
        let amount = match amount {
            Some(amount) => amount,
            None => self.amount(&Fill { part: self, cell, names: &names })?,
        };
        let connections = self.connections(&Fill { part: self, cell, names: &names })?;
        names.insert("connections", connections.to_string());
        if let Amount::Time(time) = amount {
            names.insert("duration", time.to_string());
            names.insert("seconds", time.seconds().to_string());
        }
        let fill = Fill { part: self, cell, names: &names };
        let load = &self.load;
        Ok(LoadSpec {
            kind: self.load_kind(&fill)?,
            connections,
            amount,
            given: Given {
                connections: load.connections.is_some(),
                amount: load.duration.is_some() || load.requests.is_some(),
            },
            rate: fill.number("rate", load.rate.as_ref())?,
            requests_per_connection: fill
                .number("requests_per_connection", load.requests_per_connection.as_ref())?
                .map(|n| n as u64),
            unix: fill.maybe(&load.unix)?.filter(|path| !path.is_empty()),
            insecure: load.insecure.unwrap_or(false),
            flags: fill.all(&load.flags)?,
            binary: fill.maybe(&load.binary)?,
            env: fill.environment(&load.env)?,
        })
    }

    fn amount(&self, fill: &Fill<'_>) -> Result<Amount, PlanError> {
        if let Some(requests) = fill.number("requests", self.load.requests.as_ref())? {
            return Ok(Amount::Requests(requests as u64));
        }
        let text = fill.text(self.load.duration.as_deref().unwrap_or("5s"))?;
        let time = Time::try_from(text.clone()).map_err(|problem| {
            self.refuse(format!("duration: {problem}"), self.load.duration.as_deref().unwrap_or(""))
        })?;
        // Another program may do with less; our own executors, as k6's, do not.
        let least = if self.load.command.is_some() { "more" } else { "1s or more" };
        match time.0.is_zero() || (self.load.command.is_none() && time.seconds() < 1.0) {
            true => Err(self.refuse(format!("duration: found {text}, expected {least}"), &text)),
            false => Ok(Amount::Time(time)),
        }
    }

    fn connections(&self, fill: &Fill<'_>) -> Result<u64, PlanError> {
        Ok(fill.number("connections", self.load.connections.as_ref())?.map_or(10, |n| n as u64))
    }

    fn load_kind(&self, fill: &Fill<'_>) -> Result<LoadKind, PlanError> {
        let Load { url, method, headers, body, script, command, figures, .. } = &self.load;
        if let Some(script) = script {
            return Ok(LoadKind::Script(fill.text(script)?));
        }
        if let Some(command) = command {
            return Ok(LoadKind::Command(fill.command(command)?, figures.clone()));
        }
        let url = fill.text(url.as_deref().unwrap_or_default())?;
        if !url.starts_with("http://") && !url.starts_with("https://") {
            return Err(
                self.refuse(format!("found the url '{url}', expected one that begins with http:// or https://"), &url)
            );
        }
        let body = match body {
            None => None,
            Some(Body::Text(text)) => Some(BodySpec::Text(fill.text(text)?)),
            Some(Body::File { file }) => Some(BodySpec::File(fill.text(file)?)),
            Some(Body::Size { size }) => Some(BodySpec::Bytes(self.bytes(&fill.text(&size.text())?)?)),
        };
        Ok(LoadKind::Url {
            url,
            method: fill.text(method.as_deref().unwrap_or("GET"))?,
            headers: headers
                .iter()
                .map(|(name, text)| Ok((name.clone(), fill.text(text)?)))
                .collect::<Result<_, _>>()?,
            body,
        })
    }

    /// `64k`, `1m`, `100`: binary multiples.
    fn bytes(&self, text: &str) -> Result<u64, PlanError> {
        let lower = text.trim().to_ascii_lowercase();
        let digits = lower.trim_end_matches(|c: char| !c.is_ascii_digit());
        let factor: Option<u64> = match &lower[digits.len()..] {
            "" | "b" => Some(1),
            "k" | "kb" | "kib" => Some(1 << 10),
            "m" | "mb" | "mib" => Some(1 << 20),
            "g" | "gb" | "gib" => Some(1 << 30),
            _ => None,
        };
        let size = digits.parse::<u64>().ok().zip(factor).and_then(|(number, factor)| number.checked_mul(factor));
        size.ok_or_else(|| {
            self.refuse(format!("body: found the size '{text}', expected bytes, as 100, 64k or 1m"), text)
        })
    }

    fn refuse(&self, problem: String, near: &str) -> PlanError {
        PlanError {
            message: format!("variant '{}': {problem}", self.name),
            near: (!near.is_empty()).then(|| near.to_owned()),
        }
    }
}

/// What fills placeholders of one variant in one cell.
struct Fill<'a> {
    part: &'a Part,
    cell: &'a Cell,
    names: &'a Names,
}

impl Fill<'_> {
    fn value_of(&self, name: &str) -> Option<String> {
        match name {
            "variant" => Some(self.part.name.clone()),
            "base" => self.part.base(),
            _ => self.cell.value_of(name).or_else(|| self.names.get(name).cloned()),
        }
    }

    fn text(&self, text: &str) -> Result<String, PlanError> {
        template::expand(text, &|name| self.value_of(name)).map_err(|error| unknown(&error, self.cell, &self.part.name))
    }

    fn maybe(&self, text: &Option<String>) -> Result<Option<String>, PlanError> {
        text.as_deref().map(|text| self.text(text)).transpose()
    }

    fn all(&self, texts: &[String]) -> Result<Vec<String>, PlanError> {
        texts.iter().map(|text| self.text(text)).collect()
    }

    fn command(&self, command: &Command) -> Result<Command, PlanError> {
        Ok(match command {
            Command::Line(line) => Command::Line(self.text(line)?),
            Command::Words(words) => Command::Words(self.all(words)?),
        })
    }

    fn stats(&self, stats: &Stats) -> Result<Stats, PlanError> {
        let command = stats.command.as_ref().map(|command| self.command(command)).transpose()?;
        Ok(Stats { url: self.maybe(&stats.url)?, command, names: stats.names.clone() })
    }

    /// The plan's environment, then the part's own.
    fn environment(&self, own: &BTreeMap<String, String>) -> Result<BTreeMap<String, String>, PlanError> {
        let both = self.part.plan_env.iter().chain(own);
        both.map(|(name, text)| Ok((name.clone(), self.text(text)?))).collect()
    }

    /// A number above 0.
    fn number(&self, field: &str, number: Option<&Number>) -> Result<Option<f64>, PlanError> {
        let Some(number) = number else { return Ok(None) };
        let text = self.text(&number.text())?;
        let value = text.trim().parse::<f64>().ok().filter(|value| value.is_finite() && *value > 0.0);
        let whole = field == "rate" || value.is_some_and(|value| value.fract() == 0.0);
        match value.filter(|_| whole) {
            Some(value) => Ok(Some(value)),
            None => {
                let expected = if field == "rate" { "a number above 0" } else { "a whole number, 1 or more" };
                Err(self.part.refuse(format!("{field}: found '{text}', expected {expected}"), field))
            }
        }
    }
}

/// A placeholder that nothing fills, told with what there is.
pub fn unknown(error: &TemplateError, cell: &Cell, variant: &str) -> PlanError {
    let TemplateError::Unknown { name, text } = error else { return PlanError::new(error.to_string()) };
    let axes: Vec<&str> = cell.axes.iter().map(|(axis, _)| axis.as_str()).collect();
    let known = match axes.is_empty() {
        true => String::from("there are no axes"),
        false => format!("the axes are {}", axes.join(", ")),
    };
    let hint = match built_in().any(|known| known == name) {
        true => format!("variant '{variant}' has none here"),
        false => format!(
            "{known}; also {{{}}}; write literal braces twice: {{{{{name}}}}}",
            built_in().collect::<Vec<_>>().join("}, {")
        ),
    };
    PlanError::near(format!("unknown name {{{name}}}: {hint}"), text.clone())
}

fn merged_server(all: &Server, variant: &Variant) -> Server {
    let kind = variant.serve.is_some() || variant.command.is_some() || variant.address.is_some();
    let of_plan = if kind { &Server::default() } else { all };
    let mut env = all.env.clone();
    env.extend(variant.env.clone());
    Server {
        serve: variant.serve.clone().or_else(|| of_plan.serve.clone()),
        command: variant.command.clone().or_else(|| of_plan.command.clone()),
        address: variant.address.clone().or_else(|| of_plan.address.clone()),
        directory: variant.directory.clone().or_else(|| all.directory.clone()),
        port: variant.port.or(all.port),
        base: variant.base.clone().or_else(|| all.base.clone()),
        ready: variant.ready.clone().or_else(|| all.ready.clone()),
        stats: variant.stats.clone().or_else(|| all.stats.clone()),
        env,
    }
}

fn merged_load(all: &Load, own: Option<&Load>) -> Load {
    let Some(own) = own else { return all.clone() };
    let kind = own.url.is_some() || own.script.is_some() || own.command.is_some();
    let of_plan = if kind { &Load::default() } else { all };
    let amount = own.duration.is_some() || own.requests.is_some();
    let of_amount = if amount { &Load::default() } else { all };
    let (mut env, mut headers) = (all.env.clone(), all.headers.clone());
    env.extend(own.env.clone());
    headers.extend(own.headers.clone());
    Load {
        url: own.url.clone().or_else(|| of_plan.url.clone()),
        script: own.script.clone().or_else(|| of_plan.script.clone()),
        command: own.command.clone().or_else(|| of_plan.command.clone()),
        method: own.method.clone().or_else(|| all.method.clone()),
        headers,
        body: own.body.clone().or_else(|| all.body.clone()),
        figures: if own.figures.is_empty() { all.figures.clone() } else { own.figures.clone() },
        flags: if own.flags.is_empty() { all.flags.clone() } else { own.flags.clone() },
        binary: own.binary.clone().or_else(|| all.binary.clone()),
        connections: own.connections.clone().or_else(|| all.connections.clone()),
        rate: own.rate.clone().or_else(|| all.rate.clone()),
        duration: own.duration.clone().or_else(|| of_amount.duration.clone()),
        requests: own.requests.clone().or_else(|| of_amount.requests.clone()),
        requests_per_connection: own.requests_per_connection.clone().or_else(|| all.requests_per_connection.clone()),
        unix: own.unix.clone().or_else(|| all.unix.clone()),
        insecure: own.insecure.or(all.insecure),
        env,
    }
}

/// The values of axes a variant is limited to, checked against the plan's.
fn only(plan: &Plan, variant: &Variant) -> Result<BTreeMap<String, Vec<String>>, PlanError> {
    let mut limits = BTreeMap::new();
    for (axis, wanted) in &variant.only {
        let refuse = |problem: String| {
            PlanError::near(format!("variant '{}': only: {problem}", variant.name), variant.name.clone())
        };
        let Some(values) = plan.axes.get(axis).and_then(|values| values.as_array()) else {
            let axes: Vec<&str> = plan.axes.keys().map(String::as_str).collect();
            return Err(refuse(format!("unknown axis '{axis}': the axes are {}", axes.join(", "))));
        };
        let there: Vec<String> = values.iter().filter_map(|value| scalar(value.get("name").unwrap_or(value))).collect();
        let wanted: Option<Vec<String>> = match wanted.as_array() {
            Some(list) => list.iter().map(scalar).collect(),
            None => scalar(wanted).map(|one| vec![one]),
        };
        let Some(wanted) = wanted else { return Err(refuse(format!("axis '{axis}': expected a list of its values"))) };
        if let Some(odd) = wanted.iter().find(|name| !there.contains(name)) {
            return Err(refuse(format!("axis '{axis}' has no value '{odd}', it has {}", there.join(", "))));
        }
        limits.insert(axis.clone(), wanted);
    }
    Ok(limits)
}
