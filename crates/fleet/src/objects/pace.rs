//! How often to look: often while something goes on, seldom while nothing does.

use std::time::Duration;

use crate::{Ns, clock};

/// Between two looks while something goes on, and at most. An answer to a ping has to be there within a second, and
/// there are two such waits on its way.
const BETWEEN: (Duration, Duration) = (Duration::from_millis(15), Duration::from_millis(200));
/// Something goes on for so long after a message.
const BUSY: Ns = 300_000_000;

/// When something last went on.
pub(super) struct Pace {
    last: Ns,
}

impl Pace {
    pub(super) fn new() -> Pace {
        Pace { last: clock::now() }
    }

    /// Something goes on.
    pub(super) fn moved(&mut self) {
        self.last = clock::now();
    }

    /// How long nothing has.
    pub(super) fn idle(&self) -> Duration {
        Duration::from_nanos(clock::now().saturating_sub(self.last))
    }

    /// Until the next look.
    pub(super) async fn wait(&self) {
        let idle = self.idle();
        let busy = Duration::from_nanos(BUSY);
        tokio::time::sleep(if idle < busy { BETWEEN.0 } else { BETWEEN.1 }).await;
    }
}
