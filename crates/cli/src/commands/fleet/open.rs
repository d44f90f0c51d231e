//! From a packed test to agents that are on their way: credentials, the coordinator's thread, local agents or an
//! invitation.

use std::io::Write;
use std::net::{Ipv4Addr, SocketAddr, ToSocketAddrs};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::mpsc::channel;

use fleet::coordinator::{BegunTest, Coordinator, ReadArchive};
use fleet::drive::CoordinatorThread;
use fleet::{Credentials, Invitation, RunId, Setup, message};
use journal::{EndedLoad, Members};
use metrics::Registry;
use script::log::Level;
use std::sync::Arc;
use units::show::counted;

use super::changing::Changes;
use super::children::Children;
use super::messages::MessageFiles;
use super::state::{FleetState, StateFile};
use super::{Fleet, PackedTest, VERSION};
use crate::backing::{Backing, Opening};
use crate::commands::run::drive::progress::{Elsewhere, Test};
use crate::commands::run::start::fleet_flags::FleetFlags;
use crate::exit_code::ExitCode;
use crate::failure::Failure;
use crate::log::Logger;

fn failed(why: String) -> Failure {
    Failure::new(ExitCode::Generic, why)
}

/// Packs the test, starts the coordinator, and agents on this machine unless others are to join.
pub fn start<'a>(
    test: &Test<'_>,
    registry: &Arc<Registry>,
    log: &'a Logger,
) -> Result<Box<dyn Elsewhere + 'a>, Failure> {
    let flags = test.flags;
    let own = flags.load.fleet.as_ref().ok_or_else(|| failed(String::from("bug: no agents were asked for")))?;
    let file = flags.kept.save.as_deref().map(StateFile::of).filter(|_| own.waits());
    let left = left_before(own, file.as_ref(), log)?;
    let is_known = left.is_some() || own.credentials.as_ref().is_some_and(|path| path.exists());
    let credentials = known_or_new(left.as_ref(), own)?;
    let idle = idle_agents(own.agents, test.planned.plan.requirements().max_vus);
    idle.iter().for_each(|idle| log.write(Level::Warning, idle, &[]));
    let packed = PackedTest::make(test)?;
    left.iter().try_for_each(|state| is_same(state, own, &packed))?;
    let run = left.as_ref().map_or_else(fleet::token::random_number, |state| Ok(state.run)).map_err(failed)?;
    let handed = left.as_ref().and_then(|state| state.setup.clone());
    let resumed = left.filter(FleetState::has_begun);
    let ended = resumed.as_ref().map_or(Ok(None), FleetState::ended_load)?;
    let setup = setup(run, own, &credentials, &packed);
    let read = packed.reader()?;
    let coordinator = coordinator((resumed.as_ref(), ended.as_ref()), (setup, read), handed.clone().flatten());
    let state = FleetState::of(run, own.agents, packed.archive.to_string(), credentials.to_text());
    if resumed.is_none() {
        keep_before_the_start(file.as_ref(), &FleetState { setup: handed.clone(), ..state.clone() }, log);
    }
    let messages = match flags.kept.save.as_deref().filter(|_| packed.settings.saves_messages && ended.is_none()) {
        Some(dir) => Some(MessageFiles::prepare(dir)?),
        None => None,
    };
    // Agents that have gone are not waited for.
    let (thread, children) = match ended.as_ref().is_some_and(|ended| ended.is_let_go) {
        true => (None, Children::default()),
        false => {
            let is_waited_for = ended.is_none().then_some(is_known);
            let keep = (file.clone().map(|file| (file, state)), messages.clone());
            let (thread, children) = call((test, own, log), coordinator, (&credentials, &packed), keep, is_waited_for)?;
            (Some(thread), children)
        }
    };
    Ok(Box::new(Fleet {
        thread,
        children,
        members: Members::new(own.agents, registry),
        agents: own.agents,
        changes: Changes::default(),
        log,
        aborts_on_loss: own.aborts_on_loss,
        is_stopped: false,
        start: None,
        resumed,
        handed,
        ended,
        state: file,
        messages,
        cause: None,
        _test: packed,
    }))
}

/// The coordinator's thread, and agents on this machine unless others are to join; `is_waited_for`: they are, and
/// whether they know how.
fn call(
    (test, own, log): (&Test<'_>, &FleetFlags, &Logger),
    coordinator: Coordinator,
    (credentials, packed): (&Credentials, &PackedTest),
    keep: (Option<(StateFile, FleetState)>, Option<MessageFiles>),
    is_waited_for: Option<bool>,
) -> Result<(CoordinatorThread, Children), Failure> {
    let seen_as = own.clone();
    let opening = Opening {
        credentials,
        address: address(own)?,
        shown: Box::new(move |address| shown(&seen_as, address)),
        archive: if own.backing.stores() { packed.content()? } else { Vec::new() },
    };
    let (thread, address) = listen(coordinator, (own, opening), keep)?;
    let address = own.backing.url().unwrap_or_else(|| shown(own, address));
    let invitation = Invitation { token: credentials.token(), address };
    if !own.waits() {
        let children = Children::start(test.matches, (own.agents, test.flags.load.workers), &invitation)?;
        return Ok((thread, children));
    }
    if let Some(is_known) = is_waited_for {
        log.write(Level::Info, &waiting(own, &invitation, is_known), &[]);
    }
    Ok((thread, Children::default()))
}

/// Those of the coordinator before, those of a file, or new ones.
fn known_or_new(left: Option<&FleetState>, own: &FleetFlags) -> Result<Credentials, Failure> {
    match left {
        Some(state) => Credentials::parse(&state.credentials).map_err(failed),
        None => credentials(own.credentials.as_deref()),
    }
}

/// One that goes on where another was killed, or a new one.
fn coordinator(
    (resumed, ended): (Option<&FleetState>, Option<&EndedLoad>),
    (setup, read): (Setup, ReadArchive),
    data: Option<String>,
) -> Coordinator {
    let now = fleet::clock::now();
    match resumed {
        Some(_) if ended.is_some() => Coordinator::letting_go(setup, read, now),
        Some(state) => {
            let begun = BegunTest { data, started: state.started(), changes: state.changes.clone() };
            Coordinator::resumed(setup, read, begun, now)
        }
        None => Coordinator::new(setup, read, now),
    }
}

/// Without it the test runs all the same; another coordinator cannot go on with it.
fn keep_before_the_start(file: Option<&StateFile>, state: &FleetState, log: &Logger) {
    if let Some(Err(error)) = file.map(|file| file.write(state)) {
        log.write(Level::Warning, &format!("a coordinator that is killed cannot be followed: {error}"), &[]);
    }
}

/// What tells that there are more agents than users: users are dealt out to agents, and some get none.
fn idle_agents(agents: u32, most_users: u64) -> Option<String> {
    let idle = u64::from(agents).checked_sub(most_users).filter(|idle| *idle > 0)?;
    let users = counted(usize::try_from(most_users).unwrap_or(usize::MAX), "virtual user");
    let have = if idle == 1 { "agent has" } else { "agents have" };
    Some(format!(
        "{idle} of {agents} {have} nothing to do: the script runs {users}; give it more users (--vus, or vus in its \
         options), or ask for fewer agents"
    ))
}

fn setup(run: u64, own: &FleetFlags, credentials: &Credentials, packed: &PackedTest) -> Setup {
    Setup {
        run: RunId(run),
        agents: own.agents,
        version: VERSION.to_owned(),
        secret: credentials.secret.clone(),
        archive: packed.archive.clone(),
        settings: message::encode(&packed.settings),
        epoch: wire::wall_ns().saturating_sub(fleet::clock::now()),
        patience: u64::try_from(own.join_timeout.as_nanos()).unwrap_or(u64::MAX),
    }
}

/// The coordinator's thread, and where it listens. What is to outlive it is written before agents hear of the start.
fn listen(
    coordinator: Coordinator,
    (own, opening): (&FleetFlags, Opening<'_>),
    (file, messages): (Option<(StateFile, FleetState)>, Option<MessageFiles>),
) -> Result<(CoordinatorThread, SocketAddr), Failure> {
    let (address, (tell, listening)) = (opening.address, channel());
    let keep = move |event: &fleet::Event| {
        if let (fleet::Event::Frame { index, content, .. }, Some(messages)) = (event, &messages) {
            messages.take(*index, content);
        }
        let Some((file, state)) = &file else { return };
        match event {
            // Without it the test runs all the same; it cannot be gone on with.
            fleet::Event::Starting { at, bound, data } => {
                drop(file.write(&state.clone().beginning((*at, *bound), data.clone())));
            }
            fleet::Event::Ordered { content, .. } => file.add_change(content),
            _ => {}
        }
    };
    let backing = own.backing.clone();
    let thread = backing.coordinate(coordinator, opening, Box::new(keep), tell);
    let thread =
        thread.map_err(|why| failed(if own.backing.url().is_some() { format!("--fleet {why}") } else { why }))?;
    let address = listening.recv().unwrap_or(address);
    Ok((thread, address))
}

/// What tells how to join. Whoever keeps credentials in a file knows the token, and a log is read by others.
fn waiting(own: &FleetFlags, invitation: &Invitation, is_known: bool) -> String {
    let how = match (is_known, &own.backing) {
        (true, _) => format!(" at {}", invitation.address),
        (false, Backing::Dialling(agents)) => {
            let token = &invitation.token;
            let command = |agent: &String| {
                let port = agent.rsplit(':').next().unwrap_or_default();
                format!("\n  ONRUSH_JOIN={token} onrush agent --listen 0.0.0.0:{port}    # {agent}")
            };
            format!("; start each on its machine with{}", agents.iter().map(command).collect::<String>())
        }
        (false, _) => format!("; start each on its machine with\n  ONRUSH_JOIN={invitation} onrush agent"),
    };
    format!("waiting for {} agents{how}", own.agents)
}

/// What a coordinator that was killed has left, where this one is to go on.
fn left_before(own: &FleetFlags, file: Option<&StateFile>, log: &Logger) -> Result<Option<FleetState>, Failure> {
    let left = file.filter(|_| own.resumes).map(StateFile::read).transpose()?.flatten();
    match &left {
        None if own.resumes => log.write(Level::Info, "--resume: no test has begun there; this one begins", &[]),
        Some(state) if !state.has_begun() => {
            log.write(Level::Info, "--resume: the test has not begun; its agents join again", &[]);
        }
        _ => {}
    }
    Ok(left)
}

/// Whether what was left is of this test.
fn is_same(state: &FleetState, own: &FleetFlags, packed: &PackedTest) -> Result<(), Failure> {
    let archive = packed.archive.to_string();
    if state.archive != archive {
        let found = &state.archive;
        let text = format!(
            "--resume: the test that was begun is {found}, and this script with these options is {archive}: give the \
             same script, files, variables and options"
        );
        return Err(failed(text));
    }
    match state.agents == own.agents {
        true => Ok(()),
        false => Err(failed(format!("--resume: the test was begun by {} agents, found {}", state.agents, own.agents))),
    }
}

/// Where to listen: agents of this machine need no other address.
fn address(own: &FleetFlags) -> Result<SocketAddr, Failure> {
    let Some(listen) = &own.listen else {
        let host = if own.waits() { Ipv4Addr::UNSPECIFIED } else { Ipv4Addr::LOCALHOST };
        return Ok(SocketAddr::from((host, 0)));
    };
    let full = if listen.starts_with(':') { format!("0.0.0.0{listen}") } else { listen.clone() };
    let found = full.to_socket_addrs().map(|mut found| found.next());
    match found {
        Ok(Some(address)) => Ok(address),
        Ok(None) => Err(failed(format!("--fleet-listen {listen}: it has no address, expected HOST:PORT"))),
        Err(error) => Err(failed(format!("--fleet-listen {listen}: {error}; expected HOST:PORT"))),
    }
}

/// The address in an invitation: agents cannot dial 0.0.0.0.
fn shown(own: &FleetFlags, address: SocketAddr) -> String {
    let is_any = address.ip().is_unspecified();
    match own.listen.as_deref().and_then(|listen| listen.rsplit_once(':')) {
        Some((host, _)) if !is_any && !host.is_empty() => format!("{host}:{}", address.port()),
        _ if is_any => {
            let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
            format!("{}:{}", host.trim(), address.port())
        }
        _ => address.to_string(),
    }
}

/// Those in the file, or new ones, which are put there.
fn credentials(path: Option<&Path>) -> Result<Credentials, Failure> {
    let Some(path) = path else { return Credentials::make().map_err(failed) };
    let problem = |what: String| failed(format!("--fleet-credentials {}: {what}", path.display()));
    match std::fs::read_to_string(path) {
        Ok(text) => Credentials::parse(&text).map_err(|why| {
            problem(format!("{why}, expected what an earlier run with this flag wrote; remove the file for a new one"))
        }),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            let made = Credentials::make().map_err(failed)?;
            let file = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
            let written = file.and_then(|mut file| writeln!(file, "{}", made.to_text()));
            written.map_err(|error| problem(format!("cannot write it: {error}")))?;
            Ok(made)
        }
        Err(error) => Err(problem(format!("cannot read it: {error}"))),
    }
}
