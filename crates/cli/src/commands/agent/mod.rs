//! `onrush agent`: a part of a test that somebody else coordinates, from the invitation to the last second.
//!
//! The agent fetches the archive, loads it as `onrush run` does, makes the users of its part, waits for the agreed
//! instant, and from then on needs nobody: each second is in its journal before it is sent. It judges its own
//! generator, and says so in its last words.

mod invitation;
mod progress;
mod receive;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use ::outputs::Outputs;
use clap::{Arg, ArgAction, ArgMatches, Command};
use engine::{RunConfig, Stopper};
use fleet::drive::{AgentThread, Local};
use fleet::embedded::LISTENING;
use fleet::{Agent, AgentEvent, Identity};
use journal::{FrameStore, TestPart};
use metrics::{Aggregate, Registry};
use modules::together::{Attendance, Meetings};
use script::log::Level;

use super::fleet::VERSION;
use crate::backing;
use crate::commands::run::drive::phases::Phases;
use crate::commands::run::drive::progress::{run_config, run_failure};
use crate::commands::run::start::flags::Flags;
use crate::commands::run::start::load::{self, Layers, Script};
use crate::commands::run::start::outputs;
use crate::commands::run::start::plan::{self, Planned};
use crate::exit_code::ExitCode;
use crate::failure::Failure;
use crate::log::Logger;
use crate::messages::Messages;
use crate::process::descriptors;
use crate::process::machine;
use crate::process::private_folder::PrivateFolder;
use crate::{flags, output};

use progress::RunningPart;
use receive::Received;

/// Flags of `run` that an agent has, too: what belongs to a machine rather than to the test.
const OF_AGENT: [&str; 9] = [
    "env",
    "console-output",
    "log-format",
    "log-output",
    "secret-source",
    "no-color",
    "verbose",
    "workers",
    "vu-memory-limit",
];

/// Without a coordinator for so long, an agent gives up.
const PATIENCE: Duration = Duration::from_secs(60);
/// One that waits to be dialled does so for as long as a coordinator waits for agents.
const WAITING_PATIENCE: Duration = Duration::from_secs(600);

/// The command and its flags.
pub fn command() -> Command {
    let own = flags::RUN_FLAGS.iter().filter(|flag| OF_AGENT.contains(&flag.name)).map(flags::RunFlag::arg);
    Command::new("agent")
        .about("Run a part of a test that `onrush run --agents` coordinates on another machine")
        .after_help(
            "The invitation is a secret: give it by the variable ONRUSH_JOIN or in a file rather than on the command \
             line, where others on this machine can read it. docs/guides/fleet.md describes fleets.",
        )
        .arg(
            Arg::new("join")
                .long("join")
                .value_name("TOKEN@HOST:PORT|TOKEN@URL|@FILE")
                .help("The invitation that the coordinator printed, or a file that holds it [env: ONRUSH_JOIN]"),
        )
        .arg(
            Arg::new("fleet")
                .long("fleet")
                .value_name("URL")
                .help("What carries the messages, when --join gives the token alone"),
        )
        .arg(
            Arg::new("listen").long("listen").value_name("HOST:PORT").help(
                "Wait here until a coordinator dials (`onrush run --agents HOST:PORT,…`); --join is its token alone",
            ),
        )
        .arg(
            Arg::new("index")
                .long("index")
                .value_name("N")
                .help("Which part to run, from 0 on [env: JOB_COMPLETION_INDEX] [default: any that is free]"),
        )
        .arg(
            Arg::new("keep")
                .long("keep")
                .value_name("DIR")
                .help("Keep what this part measured in this directory, for `onrush report` without a coordinator"),
        )
        .arg(Arg::new("with-parent").long("with-parent").action(ArgAction::SetTrue).hide(true))
        .args(own)
}

/// Joins, runs its part, and ends when the coordinator has everything.
pub fn main(matches: &ArgMatches) -> Result<ExitCode, Failure> {
    let invitation = invitation::read(matches)?;
    let index = invitation::index(matches)?;
    let folder = Folder::of(matches.get_one::<String>("keep"))?;
    let archive = folder.path().join("archive.tar");
    let run_matches = as_run(matches, &archive)?;
    let flags = Flags::of_agent(&run_matches)?;
    let log = Arc::new(Logger::new(&flags.shown.log)?.folding().hiding(flags.test.secrets.clone()));
    let is_local = matches.get_flag("with-parent");
    if is_local {
        leave_with_parent();
    }
    let stopper = Stopper::new();
    let phases = Phases::listen(stopper.clone())?;
    let frames = FrameStore::default();
    let sent = frames.clone();
    let failed = |why: String| Failure::new(ExitCode::Generic, why);
    let identity = Identity {
        version: VERSION.to_owned(),
        secret: invitation.token.secret.clone(),
        name: machine::process_name(),
        index,
        incarnation: fleet::token::random_number().map_err(failed)?,
    };
    let incarnation = identity.incarnation;
    if !is_local {
        let way = match invitation.address.strip_prefix(LISTENING) {
            Some(address) => format!("waiting for a coordinator to dial {address}"),
            None => format!("joining the coordinator at {}", invitation.address),
        };
        log.write(Level::Info, &way, &[]);
    }
    let is_waiting = invitation.address.starts_with(LISTENING);
    let patience = if is_waiting { (WAITING_PATIENCE, PATIENCE) } else { (PATIENCE, PATIENCE) };
    let (link, events) =
        backing::join(&invitation, Agent::new(identity), Box::new(move |number| sent.frame(number)), patience)
            .map_err(failed)?;
    let membership = Membership { incarnation, link, events, frames, folder, is_local };
    let ended = membership.serve(flags, &log, &phases, &stopper);
    log.settle();
    log.close().iter().for_each(|line| output::stderr().print(format!("{line}\n").as_bytes()));
    ended
}

/// The flags as `run` reads them.
fn as_run(matches: &ArgMatches, archive: &Path) -> Result<ArgMatches, Failure> {
    let mut words = vec![String::from("run"), String::from("--type=archive"), archive.display().to_string()];
    for name in OF_AGENT {
        let given = matches.try_get_many::<String>(name).ok().flatten().into_iter().flatten();
        words.extend(given.map(|value| format!("--{name}={value}")));
    }
    let read = flags::run_command().try_get_matches_from(words);
    read.map_err(|error| Failure::new(ExitCode::Generic, error.to_string()))
}

/// An agent that was started by its coordinator ends with it: a pipe between them closes.
fn leave_with_parent() {
    let watch = || {
        let _closed = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
        std::process::exit(ExitCode::Generic as i32);
    };
    // Without it the agent ends by its own patience.
    let _ = std::thread::Builder::new().name(String::from("parent")).spawn(watch);
}

/// Where archive and journal are.
enum Folder {
    Kept(PathBuf),
    Own(PrivateFolder),
}

impl Folder {
    fn of(keep: Option<&String>) -> Result<Folder, Failure> {
        let failed = |path: &Path, error: std::io::Error| {
            Failure::new(ExitCode::Generic, format!("cannot make the folder {}: {error}", path.display()))
        };
        match keep {
            Some(dir) => {
                let dir = PathBuf::from(dir);
                std::fs::create_dir_all(&dir).map_err(|error| failed(&dir, error))?;
                Ok(Folder::Kept(dir))
            }
            None => PrivateFolder::make().map(Folder::Own).map_err(|error| failed(&std::env::temp_dir(), error)),
        }
    }

    fn path(&self) -> &Path {
        match self {
            Folder::Kept(dir) => dir,
            Folder::Own(folder) => folder.path(),
        }
    }
}

/// An agent's way to its coordinator.
struct Membership {
    incarnation: u64,
    link: AgentThread,
    events: Receiver<AgentEvent>,
    frames: FrameStore,
    folder: Folder,
    is_local: bool,
}

impl Membership {
    fn serve(self, flags: Flags, log: &Arc<Logger>, phases: &Phases, stopper: &Stopper) -> Result<ExitCode, Failure> {
        let archive = self.folder.path().join("archive.tar");
        let received = match receive::receive(&self.events, &archive) {
            Ok(Some(received)) => received,
            Ok(None) => {
                self.link.finish();
                return Ok(ExitCode::Ok);
            }
            Err(why) => return unable(self.link, Failure::new(ExitCode::Generic, why)),
        };
        let registry = Registry::new();
        let prepared = prepare(flags, &received, &registry, log).and_then(|(flags, script, planned)| {
            let outputs = outputs::open(&flags, &script, &planned, &registry, log)?;
            let messages = self.log_messages(&received, &script, log)?;
            Ok((flags, script, planned, outputs, messages))
        });
        let (flags, script, planned, outputs, messages) = match prepared {
            Ok(prepared) => prepared,
            Err(failure) => return unable(self.link, failure),
        };
        phases.begin();
        let incarnation = self.incarnation;
        self.run(
            &AgentTest { flags: &flags, script: &script, log, stopper, received: &received, incarnation, messages },
            planned,
            registry,
            outputs,
        )
    }

    /// Where the coordinator keeps received messages: here first.
    fn log_messages(
        &self,
        received: &Received,
        script: &Script,
        log: &Arc<Logger>,
    ) -> Result<Option<Arc<Messages>>, Failure> {
        if !received.settings.saves_messages {
            return Ok(None);
        }
        let messages = Messages::prepare_of(Some(received.index), self.folder.path(), log.clone())?;
        script.program.log_messages(messages.clone());
        Ok(Some(messages))
    }

    fn run(
        self,
        test: &AgentTest<'_>,
        planned: Planned,
        registry: Arc<Registry>,
        outputs: Outputs,
    ) -> Result<ExitCode, Failure> {
        let AgentTest { script, stopper, .. } = *test;
        let state = planned.plan.state();
        let config = RunConfig {
            prepare: outputs::tap(&outputs),
            stopper: stopper.clone(),
            ..run_config(&planned.options, registry.clone(), state.clone())
        };
        let aggregate = Aggregate::new(registry.clone(), planned.thresholds.clone());
        let (ended, is_done) = channel();
        let dir = self.folder.path();
        let link = &self.link;
        let tell = link.teller();
        script.program.process_state::<Meetings>().go_beyond(move |arrival| tell(Local::Arrives(arrives(arrival))));
        let mut part = RunningPart::new(test, config.clone(), (link, self.frames.clone(), dir), aggregate);
        part.is_local = self.is_local;
        let mut waiting = Some((self.events, ended));
        let outcome = script::run(&script.program, planned.plan, config, &mut |event| part.take(event, &mut waiting));
        let outcome = match outcome {
            Ok(outcome) => outcome,
            Err(error) => return unable(self.link, run_failure(error)),
        };
        let has_run = outcome.started.is_some();
        let code = part.finish(outcome, outputs);
        // Nobody has waited for orders when the test was over before its users were made.
        waiting.take().into_iter().for_each(|(events, ended)| progress::listen(events, stopper.clone(), ended, drop));
        let last = is_done.recv().unwrap_or(Ok(()));
        self.link.finish();
        last.map_err(|why| {
            let rest = match &self.folder {
                Folder::Kept(dir) => format!("; what was measured is in {}", dir.display()),
                Folder::Own(_) => String::new(),
            };
            // Who started it need not try again: the part has been run.
            let code = if has_run { ExitCode::AgentsLost } else { ExitCode::Generic };
            Failure::new(code, format!("{why}{rest}"))
        })?;
        Ok(code)
    }
}

/// This agent cannot take part: the coordinator hears why, too.
fn unable(link: AgentThread, failure: Failure) -> Result<ExitCode, Failure> {
    link.tell(Local::Refused(failure.message.clone(), failure.code as u8));
    link.finish();
    Err(failure)
}

/// What a part is a part of.
struct AgentTest<'a> {
    flags: &'a Flags,
    script: &'a Script,
    log: &'a Logger,
    stopper: &'a Stopper,
    received: &'a Received,
    incarnation: u64,
    /// `--save-messages` of the coordinator.
    messages: Option<Arc<Messages>>,
}

impl AgentTest<'_> {
    /// As a journal begins with it.
    fn part(&self, bound_ns: u64) -> TestPart {
        let Received { run, index, of, .. } = self.received;
        TestPart {
            run: run.clone(),
            index: *index,
            of: *of,
            name: machine::process_name(),
            incarnation: self.incarnation,
            bound_ns,
            is_on_its_own: false,
        }
    }
}

/// Loads the archive, and plans this agent's part of it.
fn prepare(
    mut flags: Flags,
    received: &Received,
    registry: &Arc<Registry>,
    log: &Arc<Logger>,
) -> Result<(Flags, Script, Planned), Failure> {
    let settings = &received.settings;
    registry.set_details(settings.details);
    flags.verdict.no_thresholds = settings.no_thresholds;
    flags.test.features.clone_from(&settings.features);
    flags.verdict.accept_late = settings.accept_late;
    flags.kept.outputs = settings.outputs.iter().map(|output| ::outputs::for_agent(output, received.index)).collect();
    flags.kept.traces.clone_from(&settings.traces);
    flags.test.system_env.extend(settings.output_env.clone());
    let layers = Layers::of_agent(&flags, settings.trusted_pem.clone());
    let script = load::script(&flags, None, layers.without_script(), log.clone(), registry.clone())?;
    let mut options = layers.with_script(&script, log)?;
    options.set_part(received.index.into(), received.of.into());
    if !flags.kept.outputs.is_empty() {
        // Receivers tell the series of many processes apart by it.
        let tags = options.tags.get_or_insert_default();
        tags.entry(String::from("agent")).or_insert_with(|| received.index.to_string());
    }
    let planned = plan::plan(&flags, options, &script, registry, log)?;
    registry.set_breakdown(settings.breakdown);
    descriptors::check(planned.plan.requirements().max_vus, flags.descriptors_per_vu())?;
    Ok((flags, script, planned))
}

/// A user that has come to a meeting, as the coordinator hears of it.
fn arrives(arrival: Attendance) -> fleet::message::Arrival {
    let ns = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
    let terms = arrival.terms;
    fleet::message::Arrival {
        meeting: arrival.meeting,
        user: arrival.user,
        users: terms.users,
        timeout: ns(terms.timeout),
        lead: ns(terms.lead),
    }
}
