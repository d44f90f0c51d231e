//! Which message goes which way.

use crate::message::{Order, Report};

/// What brokers take by default is 1 MiB; half of it leaves room.
const LARGE: usize = 512 << 10;

/// Whether a report goes to the coordinator rather than through the broker: the seconds of the test, what has to come
/// behind them, the request for what comes back that way, and lines of the log, which would hold up the seconds while
/// the broker is gone.
pub(super) fn is_bulk(report: &Report) -> bool {
    match report {
        Report::Wants { .. } | Report::Frame { .. } | Report::Ended { .. } | Report::Said { .. } => true,
        Report::Refused { why, .. } => why.len() > LARGE,
        _ => false,
    }
}

/// Whether an order comes from the coordinator rather than through the broker: pieces of the archive, and data of
/// `setup()` that a broker does not take.
pub(super) fn comes_directly(order: &Order) -> bool {
    match order {
        Order::Piece { .. } => true,
        Order::Setup { data } => data.as_ref().is_some_and(|data| data.len() > LARGE),
        Order::Welcome { settings, .. } => settings.len() > LARGE,
        Order::Stop { cause } => cause.len() > LARGE,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_large_does_not_go_through_the_broker() {
        assert!(is_bulk(&Report::Frame { number: 1, content: Vec::new() }) && is_bulk(&Report::Wants { offset: 0 }));
        assert!(!is_bulk(&Report::HasSetup));
        assert!(comes_directly(&Order::Piece { offset: 0, content: Vec::new() }));
        assert!(!comes_directly(&Order::Setup { data: Some("x".into()) }));
        assert!(comes_directly(&Order::Setup { data: Some("x".repeat(LARGE + 1)) }));
    }
}
