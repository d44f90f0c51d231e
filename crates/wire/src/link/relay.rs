//! Between a virtual user and the network: takes bytes from one socket and gives them to another when the link has carried
//! them.
//!
//! One task a connection, two directions. Nothing is read while the line is booked ahead, so that whoever sends feels the
//! link as back pressure. When the user closes, what it sent goes out and the connection ends; when the server closes, the
//! user learns it once everything before has arrived, and a reset stays one.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::poll_fn;
use std::io::{self, IoSlice};
use std::rc::Rc;
use std::time::Instant;

use super::Link;
use super::lane::Lane;
use crate::hold;
use crate::socket::Socket;

/// How the real connection ended, if by an error: what the user's socket, which knows of none, reports instead of an end.
pub(crate) type Fate = Rc<Cell<Option<i32>>>;

/// Relays between the user's side and the real socket until either ends.
pub(crate) fn spawn(link: Rc<Link>, near: Socket, far: Socket, fate: Fate) {
    tokio::task::spawn_local(async move {
        let up = carry(&near, &far, &link.up);
        let down = async {
            if let Err(error) = carry(&far, &near, &link.down).await {
                fate.set(error.raw_os_error());
            }
            near.close_sending();
            // The user closes when it has seen the end.
            std::future::pending::<()>().await;
        };
        tokio::select! {
            ended = up => match ended {
                Ok(()) => far.close_sending(),
                Err(error) => fate.set(error.raw_os_error()),
            },
            () = down => {}
        }
    });
}

/// Bytes under way in one direction of a connection at most, as TCP's window bounds them: the most of a usual system's.
const WINDOW: usize = 4 << 20;

/// One direction, to the end of what `from` sends.
async fn carry(from: &Socket, to: &Socket, lane: &RefCell<Lane>) -> io::Result<()> {
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
                hold::until(free).await;
            }
            poll_fn(|cx| from.poll_receive(cx, &mut buffer)).await
        };
        let departure = async {
            match due {
                Some(due) => hold::until(due).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            read = arrival => match read {
                Ok(read) if read.bytes > 0 => {
                    let due = lane.borrow_mut().carry(Instant::now(), read.bytes).max(last);
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
