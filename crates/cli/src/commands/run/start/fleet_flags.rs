//! `--agents` and the flags that go with it.

use std::path::PathBuf;
use std::time::Duration;

use units::Span;

use crate::backing::Backing;
use crate::commands::run::start::flag_source::FlagSource;
use crate::exit_code::ExitCode;
use crate::failure::Failure;

/// Agents that one coordinator is made for.
const MOST: u32 = 1_000;
/// How long agents of this machine, and of others, may take to join.
const JOIN_TIMEOUT: (Duration, Duration) = (Duration::from_secs(60), Duration::from_secs(600));

/// What was asked for.
#[derive(Clone, Debug)]
pub struct FleetFlags {
    /// `--agents`.
    pub agents: u32,
    /// `--fleet-listen`; none: they are started here.
    pub listen: Option<String>,
    /// `--fleet`.
    pub backing: Backing,
    /// `--fleet-credentials`.
    pub credentials: Option<PathBuf>,
    /// `--join-timeout`.
    pub join_timeout: Duration,
    /// Whether a coordinator that was killed is followed.
    pub resumes: bool,
    /// Whether the test ends when an agent is lost.
    pub aborts_on_loss: bool,
}

impl FleetFlags {
    /// Where the test runs, in few words.
    pub fn place(&self) -> String {
        let place = if self.waits() { "that join" } else { "on this machine" };
        format!("{} agents {place}", self.agents)
    }

    /// Whether agents of other machines are to join.
    pub fn waits(&self) -> bool {
        self.listen.is_some() || self.backing.url().is_some()
    }

    /// None without `--agents`.
    pub fn read(source: &FlagSource<'_>, is_quick: bool) -> Result<Option<FleetFlags>, Failure> {
        let Some(agents) = source.text("agents") else {
            let alone = ["fleet", "fleet-listen", "fleet-credentials", "join-timeout", "on-loss", "resume"];
            let given = alone.into_iter().find(|name| source.text(name).is_some());
            return match given {
                Some(name) => {
                    Err(refuse(format!("--{name} is about agents: give --agents N as well, or leave it out")))
                }
                None => Ok(None),
            };
        };
        let (agents, dialled) = agents_of(&agents)?;
        if is_quick {
            return Err(refuse(String::from(
                "--agents divides a script among agents, and a URL is none: `--show-script` prints the script that \
                 stands for it",
            )));
        }
        for (name, instead) in [
            ("shards", "the coordinator merges what its agents measure: --save DIR keeps it"),
            ("referee", "it is a thread beside the workers, which are at the agents"),
        ] {
            if source.is_given(name) {
                return Err(refuse(format!("--{name} does not go with --agents: {instead}")));
            }
        }
        if outputs::take_stdout(&crate::commands::run::start::output_flags::outputs(source)) {
            let text = "--out to standard output does not go with --agents, each of which has its own: name a file, \
                        which each agent writes with its number in the name";
            return Err(refuse(text.to_owned()));
        }
        let listen = source.text("fleet-listen");
        let backing = backing(source, listen.is_some(), dialled)?;
        let waits = listen.is_some() || backing.url().is_some();
        let standard = if waits { JOIN_TIMEOUT.1 } else { JOIN_TIMEOUT.0 };
        let join_timeout = match source.text("join-timeout") {
            None => standard,
            Some(text) => match Span::parse(&text) {
                Ok(time) => time.or_zero(),
                Err(_) => return Err(refuse(format!("--join-timeout: found '{text}', expected a time such as 30s"))),
            },
        };
        let aborts_on_loss = match source.text("on-loss").as_deref() {
            None | Some("continue") => false,
            Some("abort") => true,
            Some(other) => {
                return Err(refuse(format!("--on-loss: found '{other}', expected continue or abort")));
            }
        };
        let credentials = source.text("fleet-credentials").map(PathBuf::from);
        let resumes = source.switch("resume", false)?;
        if resumes && (!waits || !source.is_given("save")) {
            return Err(refuse(String::from(
                "--resume goes on with a test whose coordinator was killed: give the same --fleet-listen HOST:PORT or \
                 --fleet URL, and the same --save DIR as then; agents of this machine ended with it",
            )));
        }
        Ok(Some(FleetFlags { agents, listen, backing, credentials, join_timeout, resumes, aborts_on_loss }))
    }
}

/// A number of agents, or their addresses.
fn agents_of(text: &str) -> Result<(u32, Option<Vec<String>>), Failure> {
    let wrong = |found: &str| {
        let expected = format!("a whole number from 1 to {MOST}, or HOST:PORT of each agent with commas between");
        refuse(format!("--agents: found '{found}', expected {expected}"))
    };
    if !text.contains(':') {
        let count = text.trim().parse().ok().filter(|count| (1..=MOST).contains(count));
        return Ok((count.ok_or_else(|| wrong(text))?, None));
    }
    let addresses: Vec<String> = text.split(',').map(|address| address.trim().to_owned()).collect();
    for (at, address) in addresses.iter().enumerate() {
        let parts = address.rsplit_once(':');
        if !parts.is_some_and(|(host, port)| !host.is_empty() && port.parse::<u16>().is_ok_and(|port| port > 0)) {
            return Err(wrong(address));
        }
        if addresses[..at].contains(address) {
            return Err(refuse(format!("--agents: {address} is there twice: an agent runs one part")));
        }
    }
    match u32::try_from(addresses.len()) {
        Ok(count) if count <= MOST => Ok((count, Some(addresses))),
        _ => Err(wrong(&format!("{} addresses", addresses.len()))),
    }
}

/// What carries the messages.
fn backing(source: &FlagSource<'_>, listens: bool, dialled: Option<Vec<String>>) -> Result<Backing, Failure> {
    if let Some(addresses) = dialled {
        let text = "--agents with addresses dials them: leave out --fleet-listen and --fleet, or give a number";
        let is_alone = !listens && source.text("fleet").is_none();
        return if is_alone { Ok(Backing::Dialling(addresses)) } else { Err(refuse(String::from(text))) };
    }
    let Some(url) = source.text("fleet") else { return Ok(Backing::Embedded) };
    let backing = Backing::of(&url).map_err(|why| refuse(format!("--fleet: {why}")))?;
    match listens && !backing.listens() {
        true => Err(refuse(format!("--fleet-listen: nobody dials the coordinator when {url} carries the messages"))),
        false => Ok(backing),
    }
}

fn refuse(message: String) -> Failure {
    Failure::new(ExitCode::Generic, message)
}
