//! What lets agents join: the coordinator's credentials, and the invitation that is made of them.

use std::fmt::Display;

use fleet::Credentials;

use crate::exit_code::ExitCode;
use crate::failure::Failure;

/// Two secrets. Agents do not get the first, with which they could be the coordinator.
pub struct Joining {
    /// For `--fleet-credentials`.
    pub credentials: String,
    /// `TOKEN@HOST:PORT`.
    pub invitation: String,
}

impl Joining {
    /// New ones, for a coordinator at this address.
    pub fn make(address: &impl Display) -> Result<Joining, Failure> {
        let failed = |why| Failure::new(ExitCode::Generic, format!("cannot make the fleet's credentials: {why}"));
        let credentials = Credentials::make().map_err(failed)?;
        let invitation = format!("{}@{address}", credentials.token());
        Ok(Joining { credentials: credentials.to_text(), invitation })
    }
}
