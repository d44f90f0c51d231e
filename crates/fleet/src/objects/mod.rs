//! Messages as objects of a store, for machines that cannot reach each other: every message is an object that is
//! written once, and each side looks for what is new.
//!
//! Below the store's prefix lies a folder for each token, named by its fingerprint:
//!
//! ```text
//! ROOM/hubs/0000000001            who coordinates: the highest number counts
//! ROOM/hubs/0000000001.over       it does not any more
//! ROOM/HUB/archive                the packed test
//! ROOM/HUB/up/LINE/0000000000     reports of one connection, numbered
//! ROOM/HUB/down/LINE/0000000000   orders to it, numbered; an empty list ends it
//! ```
//!
//! An object is only ever created, never replaced: two writers of one number are found out by the store. Each is
//! sealed with the token's secret (`sealed`). Coordinators list what has come up and delete what they have taken, so
//! a listing is as long as what is new; agents ask for their next number, because a read costs a twelfth of a listing.

mod access;
mod hub;
#[cfg(feature = "objects")]
mod library;
mod line;
#[cfg(feature = "objects")]
mod open;
mod pace;
mod shards;
mod store;

pub use hub::ObjectsHub;
pub use line::ObjectsLine;
pub use shards::{ShardPart, ShardStore};
pub use store::StorePlace;

/// The names below the prefix.
mod names {
    use crate::coordinator::Link;

    pub(super) fn hubs(room: &str) -> String {
        format!("{room}/hubs")
    }

    pub(super) fn hub(room: &str, number: u64) -> String {
        format!("{room}/hubs/{number:010}")
    }

    pub(super) fn over(room: &str, number: u64) -> String {
        format!("{room}/hubs/{number:010}.over")
    }

    pub(super) fn archive(room: &str, hub: u64) -> String {
        format!("{room}/{hub:016x}/archive")
    }

    pub(super) fn all_up(room: &str, hub: u64) -> String {
        format!("{room}/{hub:016x}/up")
    }

    pub(super) fn up(room: &str, hub: u64, line: Link, number: u64) -> String {
        format!("{room}/{hub:016x}/up/{line:016x}/{number:010}")
    }

    pub(super) fn down(room: &str, hub: u64, line: Link, number: u64) -> String {
        format!("{room}/{hub:016x}/down/{line:016x}/{number:010}")
    }

    /// The line and the number of a name that `up` has made.
    pub(super) fn read_up(name: &str) -> Option<(Link, u64)> {
        let mut from_behind = name.rsplit('/');
        let number = from_behind.next()?.parse().ok()?;
        Some((Link::from_str_radix(from_behind.next()?, 16).ok()?, number))
    }
}

#[cfg(test)]
mod tests {
    use super::names;

    #[test]
    fn a_name_tells_its_line_and_number() {
        let name = names::up("room", 7, u64::MAX, 12);
        assert_eq!(name, "room/0000000000000007/up/ffffffffffffffff/0000000012");
        assert_eq!(names::read_up(&name), Some((u64::MAX, 12)));
        assert_eq!(names::read_up("room/7/up/x/1"), None);
        assert_eq!(names::read_up("1"), None);
    }
}
