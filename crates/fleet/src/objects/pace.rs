//! How often to look: often while something goes on, ever less often while nothing does, and never so often that the
//! store does nothing else.

use std::time::Duration;

use crate::{Ns, clock};

/// Between two looks, at least and at most. An answer to a ping has to be there within a second, and there are two such
/// waits on its way.
const BETWEEN: (Duration, Duration) = (Duration::from_millis(15), Duration::from_millis(200));

/// When something last went on, and how long the store takes.
pub(super) struct Pace {
    last: Ns,
    looked: Ns,
}

impl Pace {
    pub(super) fn new() -> Pace {
        Pace { last: clock::now(), looked: 0 }
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
    pub(super) async fn wait(&mut self) {
        let took = match self.looked {
            0 => Duration::ZERO,
            looked => Duration::from_nanos(clock::now().saturating_sub(looked)),
        };
        tokio::time::sleep(between(self.idle(), took)).await;
        self.looked = clock::now();
    }
}

/// After so long without a message, and when the last look took so long.
fn between(idle: Duration, took: Duration) -> Duration {
    (idle / 4).max(took).clamp(BETWEEN.0, BETWEEN.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_are_rare_when_nothing_comes_or_the_store_is_slow() {
        let ms = Duration::from_millis;
        assert_eq!(between(ms(0), ms(1)), ms(15));
        assert_eq!(between(ms(400), ms(1)), ms(100));
        assert_eq!(between(ms(9_000), ms(1)), ms(200));
        assert_eq!(between(ms(0), ms(80)), ms(80));
        assert_eq!(between(ms(0), ms(3_000)), ms(200));
    }
}
