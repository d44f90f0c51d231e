//! Who has invited an agent, and as which part: flags, variables, files.

use clap::ArgMatches;
use fleet::Invitation;
use fleet::embedded::LISTENING;

use crate::exit_code::ExitCode;
use crate::failure::Failure;

/// `--join`, else `ONRUSH_JOIN`.
pub fn read(matches: &ArgMatches) -> Result<Invitation, Failure> {
    let given = matches.get_one::<String>("join").cloned();
    let (name, text) = match given.or_else(|| std::env::var("ONRUSH_JOIN").ok().filter(|text| !text.is_empty())) {
        Some(text) => ("--join", text),
        None => {
            return Err(refuse(String::from(
                "agent: nobody has invited it: give --join TOKEN@HOST:PORT, --join @FILE, or the variable ONRUSH_JOIN; \
                 `onrush run SCRIPT --agents N --fleet-listen HOST:PORT` prints the invitation",
            )));
        }
    };
    let text = match text.strip_prefix('@') {
        Some(path) => {
            let read = std::fs::read_to_string(path);
            read.map_err(|error| refuse(format!("{name}: cannot read the invitation in {path}: {error}")))?
        }
        None => text,
    };
    let listening = matches.get_one::<String>("listen").map(|address| listening_at(address)).transpose()?;
    if listening.is_some() && text.contains('@') {
        let problem = "the invitation says where the coordinator is, and --listen waits for one: give one of them";
        return Err(refuse(format!("{name}: {problem}; with --listen the token alone is the invitation")));
    }
    let way = listening.or_else(|| matches.get_one::<String>("fleet").cloned());
    let text = match way.filter(|_| !text.contains('@')) {
        Some(url) => format!("{}@{url}", text.trim()),
        None => text,
    };
    Invitation::parse(&text).map_err(|why| refuse(format!("{name}: {why}")))
}

/// As it stands in an invitation.
fn listening_at(address: &str) -> Result<String, Failure> {
    let full = if address.starts_with(':') { format!("0.0.0.0{address}") } else { address.to_owned() };
    match full.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok()) {
        true => Ok(format!("{LISTENING}{full}")),
        false => Err(refuse(format!("--listen: found '{address}', expected HOST:PORT or :PORT"))),
    }
}

/// `--index`, else the index of a Job's Pod.
pub fn index(matches: &ArgMatches) -> Result<Option<u32>, Failure> {
    let of_job = || std::env::var("JOB_COMPLETION_INDEX").ok().filter(|text| !text.is_empty());
    let given = matches.get_one::<String>("index").cloned().or_else(of_job);
    let read = |text: String| {
        let index = text.trim().parse();
        index.map_err(|_| refuse(format!("--index: found '{text}', expected a whole number from 0 on")))
    };
    given.map(read).transpose()
}

fn refuse(message: String) -> Failure {
    Failure::new(ExitCode::Generic, message)
}
