//! What time scripts see: the machine's, or one that several machines agree on.
//!
//! A script that puts `Date.now()` into a message and subtracts it at another machine would subtract two clocks. In a
//! fleet each agent knows how far its clock is from the coordinator's, and its scripts see the coordinator's time.

unsafe extern "C" {
    /// Of `quickjs/clock.patch`.
    safe fn JS_SetClockAhead(us: i64);
}

/// From now on the time of all scripts of the process is so far ahead of the machine's.
pub fn set_ahead(ns: i64) {
    JS_SetClockAhead(ns.div_euclid(1000));
}

#[cfg(test)]
mod tests {
    use std::time::{SystemTime, UNIX_EPOCH};

    use rquickjs::{Context, Runtime};

    use super::*;

    #[test]
    fn scripts_see_the_time_that_was_agreed_on() {
        let runtime = Runtime::new().unwrap();
        let context = Context::full(&runtime).unwrap();
        let seen = || context.with(|ctx| ctx.eval::<f64, _>("Date.now()").unwrap());
        let own = || SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis() as f64;
        for ahead_ms in [3_600_000.0, -200_000.0, 0.0] {
            set_ahead((ahead_ms * 1e6) as i64);
            let (before, seen, after) = (own(), seen(), own());
            assert!(before - 1.0 <= seen - ahead_ms && seen - ahead_ms <= after, "{ahead_ms}: {before} {seen} {after}");
        }
    }
}
