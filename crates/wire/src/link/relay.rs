//! Between a virtual user and the network: takes bytes from one socket and gives them to another when the link has
//! carried them.
//!
//! One task a connection, two directions. Nothing is read while the line is booked ahead, so that the sender feels the
//! link as back pressure. When the user closes, what it sent goes out and the connection ends; when the server closes,
//! the user learns it once everything before has arrived, and a reset stays one.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::future::poll_fn;
use std::io::{self, IoSlice};
use std::rc::Rc;
use std::time::{Duration, Instant};

use super::Link;
use super::lane::Lane;
use super::relay_state::RelayState;
use crate::io::receive::Received;
use crate::io::socket::Socket;
use crate::io::stamps::wall_ns;
use crate::io::timer;

/// Relays between the user's side and the real socket until either ends.
pub(crate) fn spawn(link: Rc<Link>, near: Socket, far: Socket, state: Rc<RelayState>) {
    tokio::task::spawn_local(async move {
        let up = carry(&near, &far, &link.up, Way::Up(&state));
        let down = async {
            if let Err(error) = carry(&far, &near, &link.down, Way::Down(&state)).await {
                state.error.set(error.raw_os_error());
            }
            near.close_sending();
            // The user closes when it has seen the end.
            std::future::pending::<()>().await;
        };
        tokio::select! {
            ended = up => match ended {
                Ok(()) => far.close_sending(),
                Err(error) => state.error.set(error.raw_os_error()),
            },
            () = down => {}
        }
    });
}

/// Bytes under way in one direction of a connection at most, as TCP's window bounds them: the most of a usual system's.
const WINDOW: usize = 4 << 20;

/// Which way bytes go: it decides who knows when they came.
#[derive(Clone, Copy)]
enum Way<'a> {
    /// From the user, which has said when it wrote.
    Up(&'a RelayState),
    /// To the user, with their time of arrival.
    Down(&'a RelayState),
}

impl Way<'_> {
    /// When bytes read now came to the link, which a busy worker looks at late.
    fn came(self, read: &Received, now: Instant) -> Instant {
        match self {
            Way::Up(state) => state.written.borrow_mut().take(read.bytes).unwrap_or(now),
            Way::Down(_) => {
                let late = read.stamp_ns.and_then(|stamp| wall_ns().checked_sub(stamp)).map(Duration::from_nanos);
                // A stamp from long ago is one of a clock that was set.
                late.filter(|late| *late < MOST_LATE).and_then(|late| now.checked_sub(late)).unwrap_or(now)
            }
        }
    }

    /// Bytes will have arrived then.
    fn arrive(self, bytes: usize, due: Instant, now: Instant) {
        if let Way::Down(state) = self {
            let wall = wall_ns() as i128 + due.saturating_duration_since(now).as_nanos() as i128
                - now.saturating_duration_since(due).as_nanos() as i128;
            state.arrived.borrow_mut().put(bytes, wall as u64);
        }
    }
}

/// How much later than the kernel a worker looks at bytes at most.
const MOST_LATE: Duration = Duration::from_secs(1);

/// One direction, to the end of what `from` sends.
async fn carry(from: &Socket, to: &Socket, lane: &RefCell<Lane>, way: Way<'_>) -> io::Result<()> {
    let mut buffer = vec![0; lane.borrow().piece()];
    let mut under_way: VecDeque<(Instant, Vec<u8>)> = VecDeque::new();
    let (mut last, mut held) = (Instant::now(), 0);
    let mut ended: Option<io::Result<()>> = None;
    loop {
        let due = under_way.front().map(|(due, _)| *due);
        if due.is_some_and(|due| due <= Instant::now()) {
            let (_, bytes) = under_way.pop_front().expect("there is one that is due");
            send(to, &bytes).await?;
            held -= bytes.len();
            continue;
        }
        if let (None, Some(_)) = (due, &ended) {
            return ended.expect("it was looked at");
        }
        let arrival = async {
            if ended.is_some() || held >= WINDOW {
                return std::future::pending().await;
            }
            let full = lane.borrow().full_until(Instant::now());
            if let Some(free) = full {
                timer::sleep_until(free).await;
            }
            poll_fn(|cx| from.poll_receive(cx, &mut buffer)).await
        };
        let departure = async {
            match due {
                Some(due) => timer::sleep_until(due).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            read = arrival => match read {
                Ok(read) if read.bytes > 0 => {
                    let now = Instant::now();
                    let due = lane.borrow_mut().carry(way.came(&read, now), now, read.bytes).max(last);
                    way.arrive(read.bytes, due, now);
                    last = due;
                    held += read.bytes;
                    under_way.push_back((due, buffer[..read.bytes].to_vec()));
                }
                Ok(_) => ended = Some(Ok(())),
                Err(error) => ended = Some(Err(error)),
            },
            () = departure => {}
        }
    }
}

async fn send(to: &Socket, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        let n = poll_fn(|cx| to.poll_send(cx, &[IoSlice::new(bytes)])).await?;
        bytes = &bytes[n..];
    }
    Ok(())
}
