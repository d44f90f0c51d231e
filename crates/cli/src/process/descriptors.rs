//! File descriptors: each VU needs at least a connection, and running out of them in the middle of a test looks like a
//! failing server. So the soft limit is raised as far as it goes, and a test that cannot fit is refused before it
//! starts.

use crate::exit_code::ExitCode;
use crate::failure::Failure;

/// What the process itself needs: standard streams, event loops, timers, files of the script.
const OWN: u64 = 64;

/// Raises the soft limit to the hard one and refuses a test whose VUs cannot all have a connection.
/// `per_vu` is 2 when the target runs in this process too.
pub fn check(max_vus: u64, per_vu: u64) -> Result<(), Failure> {
    let limit = raise();
    let needed = max_vus.saturating_mul(per_vu).saturating_add(OWN);
    if needed <= limit {
        return Ok(());
    }
    Err(Failure::new(
        ExitCode::InvalidConfig,
        format!(
            "too few file descriptors for {max_vus} VUs: {needed} needed (a connection for each VU and {OWN} for \
             Onrush itself), {limit} allowed; raise the limit with `ulimit -n {needed}` or use fewer VUs"
        ),
    ))
}

/// How many users fit, with a connection for each and a target in this process.
pub fn room() -> u64 {
    raise().saturating_sub(OWN) / 2
}

/// The soft limit after raising it.
fn raise() -> u64 {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum });
    getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_many_users_are_refused_with_the_figures() {
        let failure = check(1 << 40, 1).expect_err("refused");
        assert_eq!(failure.code, ExitCode::InvalidConfig);
        assert!(failure.message.contains("1099511627776 VUs"), "{}", failure.message);
        assert!(failure.message.contains("ulimit -n"), "{}", failure.message);
        check(1, 1).expect("one user fits");
        check(room(), 2).expect("there is room for them");
    }
}
