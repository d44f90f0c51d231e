//! What a coordinator writes down, so that another can go on with its test: who it is before agents join, what
//! `setup()` returned before they hear of it, and when the test begins.

use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use journal::EndedLoad;
use serde::{Deserialize, Serialize};

use crate::exit_code::ExitCode;
use crate::failure::Failure;

/// Name of the file in the directory of the result.
const FILE_NAME: &str = "fleet.state";

/// A test, however far it has come.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FleetState {
    /// Its number.
    pub run: u64,
    /// What its archive is called.
    pub archive: String,
    /// So many agents take part.
    pub agents: u32,
    /// What they were let in by.
    pub credentials: String,
    /// What `setup()` returned, as JSON; `None` before it has.
    pub setup: Option<Option<String>>,
    /// When the scenarios began: by the machine's monotonic clock, and in nanoseconds since the epoch.
    pub started: (u64, u64),
    /// No agent's clock was further off then, in nanoseconds.
    pub bound: u64,
    /// Which life of the machine that clock is of; empty before the test begins.
    pub boot: String,
    /// Changes of the load in order, each a `LoadOrder` as it is sent.
    #[serde(default)]
    pub changes: Vec<Vec<u8>>,
    /// An `EndedLoad` as messages are written; none before everything has been measured.
    #[serde(default)]
    pub ended: Option<Vec<u8>>,
}

impl FleetState {
    /// Of a test that has not begun.
    pub fn of(run: u64, agents: u32, archive: String, credentials: String) -> FleetState {
        let boot = String::new();
        FleetState {
            run,
            archive,
            agents,
            credentials,
            setup: None,
            started: (0, 0),
            bound: 0,
            boot,
            changes: Vec::new(),
            ended: None,
        }
    }

    /// The load, where it has ended.
    pub fn ended_load(&self) -> Result<Option<EndedLoad>, Failure> {
        let ended = self.ended.as_deref().map(EndedLoad::read).transpose();
        ended.map_err(|why| Failure::new(ExitCode::Generic, format!("--resume: {FILE_NAME} has {why}")))
    }

    /// Whether the scenarios have begun.
    pub fn has_begun(&self) -> bool {
        !self.boot.is_empty()
    }

    /// One of a test that begins then.
    pub fn beginning(self, (at, bound): (fleet::Ns, fleet::Ns), setup: Option<String>) -> FleetState {
        let ahead = at.saturating_sub(fleet::clock::now());
        FleetState { setup: Some(setup), started: (at, since_epoch() + ahead), bound, boot: boot(), ..self }
    }

    /// When it began, by the machine's clock as it is now: after a restart of the machine the wall clock has to do.
    pub fn started(&self) -> fleet::Ns {
        match self.boot == boot() {
            true => self.started.0,
            false => fleet::clock::now().saturating_sub(since_epoch().saturating_sub(self.started.1)),
        }
    }
}

fn since_epoch() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as u64)
}

fn boot() -> String {
    std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default().trim().to_owned()
}

/// Where it is written.
#[derive(Clone, Debug)]
pub struct StateFile(PathBuf);

impl StateFile {
    /// In this directory.
    pub fn of(dir: &Path) -> StateFile {
        StateFile(dir.join(FILE_NAME))
    }

    /// For a coordinator that follows one that was killed; none where there was none.
    pub fn read(&self) -> Result<Option<FleetState>, Failure> {
        let path = self.0.display();
        let problem = |what: String| Failure::new(ExitCode::Generic, format!("--resume: {path}: {what}"));
        match std::fs::read_to_string(&self.0) {
            Ok(text) => {
                let state = serde_json::from_str(&text);
                state.map(Some).map_err(|error| problem(format!("it is not what a coordinator leaves: {error}")))
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(problem(error.to_string())),
        }
    }

    /// In one piece, for nobody else's eyes: there is a key in it.
    pub fn write(&self, state: &FleetState) -> std::io::Result<()> {
        self.0.parent().map_or(Ok(()), std::fs::create_dir_all)?;
        let beside = self.0.with_extension("partial");
        let mut file = std::fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&beside)?;
        file.write_all(&serde_json::to_vec(state)?)?;
        file.sync_all()?;
        std::fs::rename(&beside, &self.0)
    }

    /// Everything has been measured, and the journal has it. Without this another coordinator cannot end the run.
    pub fn write_ended(&self, ended: &EndedLoad) {
        if let Ok(Some(state)) = self.read() {
            let _ = self.write(&FleetState { ended: Some(ended.to_bytes()), ..state });
        }
    }

    /// The load changes: another coordinator goes on with that.
    pub fn add_change(&self, change: &[u8]) {
        if let Ok(Some(mut state)) = self.read() {
            state.changes.push(change.to_vec());
            let _ = self.write(&state);
        }
    }

    /// The test is over.
    pub fn remove(&self) {
        self.0.parent().into_iter().for_each(journal::remove_set_aside);
        // None was written, when the directory could not be made.
        let _ = std::fs::remove_file(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_is_found_again_and_dated_by_either_clock() {
        let folder = crate::process::private_folder::PrivateFolder::make().unwrap();
        let file = StateFile::of(folder.path());
        assert_eq!(file.read(), Ok(None));
        let state = FleetState::of(1, 2, "a".into(), "c".into());
        file.write(&state).unwrap();
        assert!(!file.read().unwrap().unwrap().has_begun());
        let at = fleet::clock::now();
        let begun = state.beginning((at, 7), Some("{}".into()));
        file.write(&begun).unwrap();
        let read = file.read().unwrap().unwrap();
        assert_eq!(read, begun);
        assert!(read.has_begun());
        assert_eq!(read.started(), at);
        assert!(read.ended_load().unwrap().is_none());
        let elsewhere = FleetState { boot: "another".into(), ..read };
        assert!(elsewhere.started().abs_diff(at) < fleet::SECOND);
        std::fs::write(folder.path().join(FILE_NAME), "{").unwrap();
        assert!(file.read().unwrap_err().message.contains("fleet.state: it is not what a coordinator leaves"));
        file.remove();
        assert_eq!(file.read(), Ok(None));
    }
}
