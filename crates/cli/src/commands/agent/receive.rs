//! The archive, as it comes in pieces; and how it is to be run.

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::mpsc::Receiver;

use fleet::{AgentEvent, message};
use sha2::{Digest, Sha256};

use crate::commands::fleet::pack::Settings;

/// What an agent was given.
pub struct Received {
    /// Of which run.
    pub run: String,
    /// Which part it runs.
    pub index: u32,
    /// Of how many.
    pub of: u32,
    /// How.
    pub settings: Settings,
}

/// Waits for a seat and for the whole archive. None: the test ended before it began. The error says why this agent
/// cannot take part.
pub fn receive(events: &Receiver<AgentEvent>, path: &Path) -> Result<Option<Received>, String> {
    let failed = |error: std::io::Error| format!("cannot write the archive to {}: {error}", path.display());
    let mut seat = None;
    let mut file = File::create(path).map_err(failed)?;
    let mut hash = Sha256::new();
    loop {
        match events.recv().map_err(|_| String::from("the connection's thread has ended"))? {
            AgentEvent::Seated { place, archive, settings } => {
                let settings =
                    message::decode(&settings).map_err(|why| format!("the coordinator's settings: {why}"))?;
                let run = place.run.to_string();
                let received = Received { run, index: place.index, of: place.of, settings };
                seat = Some((received, archive));
            }
            AgentEvent::Piece(content) => {
                hash.update(&content);
                file.write_all(&content).map_err(failed)?;
            }
            AgentEvent::ArchiveEnds => {
                file.flush().map_err(failed)?;
                let Some((received, archive)) = seat else { return Err(String::from("an archive without a seat")) };
                let found: [u8; 32] = hash.finalize().into();
                let found = fleet::Archive { hash: found, ..archive.clone() };
                return match found == archive {
                    true => Ok(Some(received)),
                    false => Err(format!("the archive is damaged: found {found}, expected {archive}")),
                };
            }
            AgentEvent::Refused(why) => return Err(why),
            AgentEvent::Stop(_) | AgentEvent::Dismissed => return Ok(None),
            AgentEvent::Setup(_) | AgentEvent::Start { .. } | AgentEvent::Clock { .. } => {}
            AgentEvent::Meet { .. } | AgentEvent::Change { .. } => {}
        }
    }
}
