//! One direction of a link, as arithmetic: when do bytes arrive that came at a moment?
//!
//! A line of one rate: what comes while it is busy waits, what has gone over it takes half the round trip. Knows no
//! sockets and reads no clock. Refuses to hold back its users: `is_full` says when to wait before more is given to it,
//! so that several connections get their turns.

use std::time::{Duration, Instant};

use fastrand::Rng;
use units::Bandwidth;

use super::settings::LinkSettings;

/// Bytes that travel together at least: a packet.
const PACKET: usize = 1460;
/// What a line of any rate carries in one piece: less would cost a wake-up for every packet of a fast line.
const PIECE_TIME: Duration = Duration::from_millis(1);
/// Bytes that travel together at most, whatever the rate.
const MOST: usize = 64 << 10;
/// How far ahead of the present a line may be booked: a short queue before it, as a good router has.
const BOOKED: Duration = Duration::from_millis(10);
/// TCP repeats a packet that nobody acknowledged after this, or after two round trips if that is longer (RFC 6298
/// allows 1 s; systems in use begin at 200 ms).
const REPEAT: Duration = Duration::from_millis(200);

/// One direction.
#[derive(Debug)]
pub(crate) struct Lane {
    rate: Option<Bandwidth>,
    delay: Duration,
    jitter: Duration,
    loss: f64,
    repeat: Duration,
    random: Rng,
    /// Until when the line is busy.
    busy: Option<Instant>,
}

impl Lane {
    pub(crate) fn new(settings: &LinkSettings, rate: Option<Bandwidth>, seed: u64) -> Lane {
        assert!((0.0..1.0).contains(&settings.loss), "a share from 0 up to 1: {}", settings.loss);
        Lane {
            rate,
            delay: settings.latency / 2,
            jitter: settings.jitter,
            loss: settings.loss,
            repeat: REPEAT.max(settings.latency * 2),
            random: Rng::with_seed(seed),
            busy: None,
        }
    }

    /// How many bytes to give to it at once.
    pub(crate) fn piece(&self) -> usize {
        self.rate.map_or(MOST, |rate| rate.bytes_in(PIECE_TIME).clamp(PACKET, MOST))
    }

    /// Until when to wait before it takes more; `None`: now.
    pub(crate) fn full_until(&self, now: Instant) -> Option<Instant> {
        let free = self.busy?.checked_sub(BOOKED)?;
        (free > now).then_some(free)
    }

    /// Takes bytes that came at a moment and are looked at now; when they have arrived. What is late is not made later,
    /// yet the line does not make up for time in which nobody gave it anything: that would be a burst.
    pub(crate) fn carry(&mut self, came: Instant, now: Instant, bytes: usize) -> Instant {
        let from = |moment: Instant| self.busy.map_or(moment, |busy| busy.max(moment));
        let time = self.rate.map_or(Duration::ZERO, |rate| rate.time_of(bytes));
        let end = from(came.min(now)) + time;
        self.busy = Some(from(now) + time);
        let mut arrival = end + self.delay;
        if !self.jitter.is_zero() {
            let shift = self.jitter.mul_f64(self.random.f64() * 2.0);
            arrival = (arrival + shift).checked_sub(self.jitter).unwrap_or(arrival).max(end);
        }
        // Each packet of a piece may be the one that is lost.
        let packets = bytes.div_ceil(PACKET).max(1) as i32;
        if self.loss > 0.0 && self.random.f64() < 1.0 - (1.0 - self.loss).powi(packets) {
            arrival += self.repeat;
        }
        debug_assert!(arrival >= end, "bytes arrive after the line has carried them");
        arrival
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(latency_ms: u64) -> LinkSettings {
        LinkSettings { latency: Duration::from_millis(latency_ms), ..LinkSettings::default() }
    }

    fn lane(rate: &str, settings: &LinkSettings) -> Lane {
        Lane::new(settings, Some(Bandwidth::parse(rate).unwrap()), 1)
    }

    #[test]
    fn what_is_looked_at_late_arrives_in_time_and_brings_no_burst() {
        let (came, mut lane) = (Instant::now(), lane("1mbps", &settings(20)));
        let now = came + Duration::from_millis(50);
        // 12.5 kB take 100 ms.
        assert_eq!(lane.carry(came, now, 12_500), came + Duration::from_millis(110));
        assert_eq!(lane.carry(came, now, 12_500), now + Duration::from_millis(210));
    }

    #[test]
    fn a_line_carries_its_rate_and_not_a_byte_more() {
        for rate in ["64kbps", "1mbps", "100mbps"] {
            let (start, mut lane) = (Instant::now(), lane(rate, &settings(0)));
            let (mut sent, mut now, mut last) = (0, start, start);
            while now < start + Duration::from_secs(5) {
                last = lane.carry(now, now, lane.piece());
                sent += lane.piece();
                now = lane.full_until(now).unwrap_or(now);
            }
            let bits = sent as f64 * 8.0 / (last - start).as_secs_f64();
            let wanted = Bandwidth::parse(rate).unwrap().time_of(1_000_000).as_secs_f64();
            assert!((bits * wanted / 8e6 - 1.0).abs() < 0.001, "{rate}: {bits}");
        }
    }

    #[test]
    fn an_idle_line_saves_nothing_up() {
        let (start, mut lane) = (Instant::now(), lane("8mbps", &settings(0)));
        let later = start + Duration::from_secs(60);
        lane.carry(start, start, 1000);
        assert_eq!(lane.carry(later, later, 1000), later + Duration::from_millis(1));
        assert_eq!(lane.carry(later, later, 1000), later + Duration::from_millis(2));
        assert_eq!(lane.full_until(later), None);
        lane.carry(later, later, 20_000);
        assert_eq!(lane.full_until(later), Some(later + Duration::from_millis(12)));
    }

    #[test]
    fn half_the_round_trip_is_added_each_way() {
        let now = Instant::now();
        let mut lane = Lane::new(&settings(30), None, 1);
        assert_eq!(lane.carry(now, now, 1 << 20), now + Duration::from_millis(15));
        assert_eq!(lane.full_until(now), None);
    }

    #[test]
    fn jitter_is_even_to_both_sides_and_loss_is_a_repetition() {
        let (now, ms) = (Instant::now(), Duration::from_millis);
        let shaky = LinkSettings { jitter: ms(10), ..settings(100) };
        let mut lane = Lane::new(&shaky, None, 7);
        let delays: Vec<f64> = (0..4000).map(|_| (lane.carry(now, now, 100) - now).as_secs_f64() * 1e3).collect();
        assert!(delays.iter().all(|delay| (40.0..=60.0).contains(delay)));
        let mean = delays.iter().sum::<f64>() / delays.len() as f64;
        assert!((49.5..50.5).contains(&mean), "{mean}");

        let lossy = LinkSettings { loss: 0.1, ..settings(0) };
        let mut lane = Lane::new(&lossy, None, 7);
        let late = (0..4000).filter(|_| lane.carry(now, now, 100) - now == REPEAT).count();
        assert!((340..460).contains(&late), "{late} of 4000");
    }
}
