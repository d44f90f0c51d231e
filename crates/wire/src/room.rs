//! How many bytes of bodies and messages a client may hold while they arrive.
//!
//! All that one client receives shares a `Room`: the bodies of `http.batch`, messages of WebSocket, streams of HTTP/2.
//! A reader that keeps bytes asks before it keeps them, so what a server sends without end costs no more than the
//! budget. Nothing is allocated here. Invariant: what a reader took is given back when the reader is done or dropped;
//! what then holds the whole body counts it for itself.

use std::cell::OnceCell;
use std::fmt;
use std::rc::Rc;

/// The account that a client's bytes are on, such as the memory of a virtual user.
pub trait Budget {
    /// Takes so many bytes more, or says why not.
    fn take(&self, bytes: usize) -> Result<(), String>;

    /// Gives bytes back that were taken.
    fn give_back(&self, bytes: usize);
}

/// What a client may hold of what arrives.
pub struct Room {
    budget: OnceCell<Rc<dyn Budget>>,
    most: u64,
}

impl Room {
    /// Room for this many bytes of each body or message, from no budget.
    pub fn new(most: u64) -> Rc<Room> {
        Rc::new(Room { budget: OnceCell::new(), most })
    }

    /// From now on bytes are taken from this budget; a second call has no effect.
    pub(crate) fn share(&self, budget: Rc<dyn Budget>) {
        let _ = self.budget.set(budget);
    }

    /// Bytes of one body or message at most.
    pub(crate) fn most(&self) -> u64 {
        self.most
    }
}

impl fmt::Debug for Room {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Room").field("most", &self.most).finish_non_exhaustive()
    }
}

/// So much of a body is not taken from the budget: asking costs more than a small body does, and most have less.
const FREE: u64 = 16 << 10;

/// What a reader holds of one body or message. Dropped: given back.
#[derive(Debug)]
pub(crate) struct Held {
    room: Rc<Room>,
    bytes: u64,
    /// Of these, what was taken from the budget: all of them, or nothing of up to `FREE`.
    taken: u64,
}

/// A body or message does not fit; the text says into what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NoRoom(pub(crate) String);

impl Held {
    pub(crate) fn nothing_of(room: &Rc<Room>) -> Held {
        Held { room: Rc::clone(room), bytes: 0, taken: 0 }
    }

    /// Holds so many bytes more, or refuses.
    pub(crate) fn grow(&mut self, more: usize) -> Result<(), NoRoom> {
        let (most, bytes) = (self.room.most, self.bytes + more as u64);
        if bytes > most {
            return Err(NoRoom(format!("it has more than {most} bytes, the limit of the option maxDecodedBody")));
        }
        if bytes > FREE
            && let Some(budget) = self.room.budget.get()
        {
            budget.take((bytes - self.taken) as usize).map_err(NoRoom)?;
            self.taken = bytes;
        }
        self.bytes = bytes;
        debug_assert!(self.taken <= self.bytes, "what was taken from the budget is held");
        Ok(())
    }

    /// Gives some of it back.
    pub(crate) fn shrink(&mut self, less: usize) {
        self.bytes = self.bytes.saturating_sub(less as u64);
        let stays_taken = if self.bytes > FREE { self.taken.min(self.bytes) } else { 0 };
        if self.taken > stays_taken
            && let Some(budget) = self.room.budget.get()
        {
            budget.give_back((self.taken - stays_taken) as usize);
            self.taken = stays_taken;
        }
        debug_assert!(self.taken <= self.bytes, "what was taken from the budget is held");
    }

    /// Gives everything back.
    pub(crate) fn clear(&mut self) {
        self.shrink(self.bytes as usize);
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.clear();
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    struct Account(Cell<usize>);

    impl Budget for Account {
        fn take(&self, bytes: usize) -> Result<(), String> {
            let left = self.0.get().checked_sub(bytes).ok_or("the account is empty")?;
            self.0.set(left);
            Ok(())
        }

        fn give_back(&self, bytes: usize) {
            self.0.set(self.0.get() + bytes);
        }
    }

    #[test]
    fn readers_share_a_budget_and_give_back_what_they_took() {
        const KIB: usize = 1024;
        let (room, account) = (Room::new(80 << 10), Rc::new(Account(Cell::new(100 * KIB))));
        room.share(account.clone());
        let (mut one, mut other) = (Held::nothing_of(&room), Held::nothing_of(&room));
        assert_eq!(one.grow(70 * KIB), Ok(()));
        assert_eq!(other.grow(40 * KIB), Err(NoRoom(String::from("the account is empty"))));
        assert_eq!(other.grow(30 * KIB), Ok(()));
        drop(one);
        assert_eq!(account.0.get(), 70 * KIB);
        assert_eq!(other.grow(50 * KIB), Ok(()));
        other.shrink(60 * KIB);
        assert_eq!(account.0.get(), 80 * KIB);
        other.clear();
        assert_eq!(account.0.get(), 100 * KIB);
    }

    #[test]
    fn a_small_body_asks_for_nothing_until_it_grows() {
        let (room, account) = (Room::new(1 << 20), Rc::new(Account(Cell::new(20_000))));
        room.share(account.clone());
        let mut held = Held::nothing_of(&room);
        assert_eq!(held.grow(FREE as usize), Ok(()));
        assert_eq!(account.0.get(), 20_000);
        assert_eq!(held.grow(1), Ok(()));
        assert_eq!(account.0.get(), 20_000 - FREE as usize - 1);
        held.shrink(1);
        assert_eq!(account.0.get(), 20_000);
    }

    #[test]
    fn one_body_has_a_limit_of_its_own() {
        let mut held = Held::nothing_of(&Room::new(10));
        assert_eq!(held.grow(10), Ok(()));
        let refused = held.grow(1).unwrap_err();
        assert_eq!(refused.0, "it has more than 10 bytes, the limit of the option maxDecodedBody");
    }
}
