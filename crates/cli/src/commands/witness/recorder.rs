//! What `onrush serve --witness` keeps: an account for each worker, one document of them at the end.
//!
//! A worker locks its own account alone, so no worker waits for another; the lock is there because the server's end is
//! on another thread.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use report::witness::{Account, AnswerSeen, RequestSeen, Served};
use serde_json::Value;
use server::witness::{Answered, ConnectionEnd, RequestArrival, Witness, WitnessFactory};
use wire::StampKeeper;

use crate::exit_code::ExitCode;
use crate::failure::Failure;
use crate::json_answer;
use crate::process::whole_file;

type SharedAccount = Arc<Mutex<Account>>;

/// The accounts of a server's workers.
pub struct ServerRecord {
    path: PathBuf,
    began: Instant,
    began_ns: u64,
    started_at: String,
    accounts: Arc<Mutex<Vec<SharedAccount>>>,
    /// Connections that come and go would switch the kernel's stamps on and off.
    _stamps: StampKeeper,
}

impl ServerRecord {
    /// From now on, for a file that can be written by its folder.
    pub fn new(path: &str) -> Result<ServerRecord, Failure> {
        let path = PathBuf::from(path);
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        if path.is_dir() || !folder.is_dir() {
            return Err(Failure::of_flag("--witness", &path.display().to_string(), "a file in a folder that exists"));
        }
        let stamps = StampKeeper::new();
        Ok(ServerRecord {
            path,
            began: Instant::now(),
            began_ns: wire::wall_ns(),
            started_at: crate::log::rfc3339_ms_now(),
            accounts: Arc::default(),
            _stamps: stamps,
        })
    }

    /// Makes the witness of a worker.
    pub fn factory(&self) -> WitnessFactory {
        let (accounts, began_ns) = (self.accounts.clone(), self.began_ns);
        Arc::new(move || -> Box<dyn Witness> {
            let account = Arc::new(Mutex::new(Account::new(began_ns)));
            locked(&accounts).push(account.clone());
            Box::new(Recorder(account))
        })
    }

    /// Writes the document, once the server has ended with these counts.
    pub fn write(self, counted: &Value, has_tls: bool) -> Result<(), Failure> {
        let served_ns = i128::try_from(self.began.elapsed().as_nanos()).unwrap_or_default();
        let of_wall_ns = i128::from(wire::wall_ns()) - i128::from(self.began_ns);
        let served = Served {
            started_at: self.started_at,
            time_s: served_ns as f64 / 1e9,
            clock_step_ms: ((of_wall_ns - served_ns) as f64 / 1e6).round(),
            bodies_received: counted["body_bytes_received"].as_u64().unwrap_or_default(),
            has_tls,
        };
        let taken = |account: &SharedAccount| std::mem::replace(&mut *locked(account), Account::new(self.began_ns));
        let accounts = locked(&self.accounts).iter().map(taken).collect();
        let document = Account::document(accounts, served);
        let path = self.path.display().to_string();
        whole_file::write(&self.path, json_answer::text(&document)).map_err(|error| {
            Failure::new(ExitCode::ResultNotWritten, format!("--witness: cannot write {path}: {error}"))
        })
    }
}

fn locked<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The witness of one worker.
struct Recorder(SharedAccount);

impl Witness for Recorder {
    fn opened(&self, connection: u64, at_ns: u64) {
        locked(&self.0).opened(connection, at_ns);
    }

    fn arrived(&self, connection: u64, RequestArrival { at_ns, is_stamped, is_alone }: RequestArrival) {
        locked(&self.0).arrived(connection, RequestSeen { at_ns, is_stamped, is_alone });
    }

    fn answered(&self, connection: u64, Answered { arrived_ns, at_ns, status, body }: Answered) {
        locked(&self.0).answered(connection, AnswerSeen { arrived_ns, at_ns, status, body });
    }

    fn abandoned(&self, _connection: u64, at_ns: u64) {
        locked(&self.0).abandoned(at_ns);
    }

    fn closed(&self, connection: u64, ConnectionEnd { at_ns, received, sent }: ConnectionEnd) {
        locked(&self.0).closed(connection, at_ns, [received, sent]);
    }
}
