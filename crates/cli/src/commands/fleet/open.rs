//! From a packed test to agents that are on their way: credentials, the coordinator's thread, local agents or an
//! invitation.

use std::io::Write;
use std::net::{Ipv4Addr, SocketAddr, ToSocketAddrs};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::mpsc::channel;

use fleet::coordinator::Coordinator;
use fleet::drive::CoordinatorThread;
use fleet::embedded::TcpHub;
use fleet::{Credentials, Invitation, RunId, Setup, message};
use metrics::Registry;
use script::log::Level;
use std::sync::Arc;

use super::super::run::drive::{Elsewhere, Test};
use super::super::run::fleet_flags::FleetFlags;
use super::children::Children;
use super::members::Members;
use super::{Fleet, PackedTest, VERSION};
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
    let own = flags.fleet.as_ref().ok_or_else(|| failed(String::from("bug: no agents were asked for")))?;
    let is_known = own.credentials.as_ref().is_some_and(|path| path.exists());
    let credentials = credentials(own.credentials.as_deref())?;
    let address = address(own)?;
    let packed = PackedTest::make(test)?;
    let setup = Setup {
        run: RunId(fleet::token::random_number().map_err(failed)?),
        agents: own.agents,
        version: VERSION.to_owned(),
        secret: credentials.secret.clone(),
        archive: packed.archive.clone(),
        settings: message::encode(&packed.settings),
        patience: u64::try_from(own.join_timeout.as_nanos()).unwrap_or(u64::MAX),
    };
    let coordinator = Coordinator::new(setup, packed.reader()?, fleet::clock::now());
    let certificate = credentials.certificate.clone();
    let (tell, listening) = channel();
    let open = async move || {
        let hub = TcpHub::listen(address, &certificate).await?;
        let _ = tell.send(hub.address());
        Ok(hub)
    };
    let thread = CoordinatorThread::start(coordinator, open, Box::new(|_| ())).map_err(failed)?;
    let address = listening.recv().unwrap_or(address);
    let invitation = Invitation { token: credentials.token(), address: shown(own, address) };
    let children = match &own.listen {
        None => Children::start(test.matches, (own.agents, flags.workers), &invitation)?,
        Some(_) => {
            // Whoever keeps credentials in a file knows the token, and a log is read by others.
            let how = match own.credentials.as_ref().filter(|_| is_known) {
                Some(_) => format!(" at {}", invitation.address),
                None => format!("; start each on its machine with\n  ONRUSH_JOIN={invitation} onrush agent"),
            };
            log.write(Level::Info, &format!("waiting for {} agents{how}", own.agents), &[]);
            Children::default()
        }
    };
    let members = Members::new(own.agents, registry);
    let aborts_on_loss = own.aborts_on_loss;
    Ok(Box::new(Fleet {
        thread,
        children,
        members,
        log,
        aborts_on_loss,
        is_stopped: false,
        start: None,
        _test: packed,
    }))
}

/// Where to listen: agents of this machine need no other address.
fn address(own: &FleetFlags) -> Result<SocketAddr, Failure> {
    let Some(listen) = &own.listen else { return Ok(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))) };
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
