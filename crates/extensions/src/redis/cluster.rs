//! Which server a command goes to: the only one, the one of a cluster that has the key, the master of a sentinel.
//!
//! The slots of a cluster are asked for at the first command, and again when a server says that a key has moved.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use redis_protocol::redis_keyslot;
use redis_protocol::resp2::types::OwnedFrame;
use script::Vu;

use super::arguments::Request;
use super::options::{ClusterOptions, NodeOptions, RedisOptions, SentinelOptions};
use super::pool::Pool;
use crate::client::dial::Place;

/// The servers of a client.
pub enum Servers {
    /// One.
    Single(Rc<Pool>),
    /// A cluster.
    Cluster(Cluster),
    /// A master that a sentinel names.
    Sentinel(Box<Sentinel>),
}

impl Servers {
    /// Nothing is connected yet.
    pub fn new(options: RedisOptions) -> Servers {
        match options {
            RedisOptions::Single(node) => Servers::Single(Pool::new(*node, false)),
            RedisOptions::Cluster(options) => {
                Servers::Cluster(Cluster { options, pools: RefCell::default(), slots: RefCell::default() })
            }
            RedisOptions::Sentinel(options) => Servers::Sentinel(Box::new(Sentinel {
                asked: Pool::new(options.sentinel.clone(), false),
                options: *options,
                master: RefCell::default(),
            })),
        }
    }

    /// One command. The error is what the script is told.
    pub async fn call(&self, vu: &Vu, request: &Request) -> Result<OwnedFrame, String> {
        match self {
            Servers::Single(pool) => pool.call(vu, request).await,
            // Boxed: a command's future is moved about, and most have one server.
            Servers::Cluster(cluster) => Box::pin(cluster.call(vu, request)).await,
            Servers::Sentinel(sentinel) => Box::pin(sentinel.call(vu, request)).await,
        }
    }
}

/// A cluster as its servers tell of it.
pub struct Cluster {
    options: ClusterOptions,
    pools: RefCell<HashMap<Place, Rc<Pool>>>,
    /// First and last slot, and who has them: the master first.
    slots: RefCell<Vec<(u16, u16, Vec<Place>)>>,
}

impl Cluster {
    async fn call(&self, vu: &Vu, request: &Request) -> Result<OwnedFrame, String> {
        if self.slots.borrow().is_empty() {
            self.learn(vu).await?;
        }
        let mut to = self.place_of(request);
        let mut asks = false;
        for _ in 0..=self.options.max_redirects {
            let pool = self.pool(&to);
            let asking = asks.then(|| Request::of(&["ASKING"]));
            let reply = pool.call_after(vu, asking.as_ref(), request).await?;
            let OwnedFrame::Error(why) = &reply else { return Ok(reply) };
            let Some((is_ask, place)) = redirect(why, &to) else { return Ok(reply) };
            if !is_ask {
                self.learn(vu).await?;
            }
            (to, asks) = (place, is_ask);
        }
        Err(format!("redis: the key moved more than {} times (maxRedirects)", self.options.max_redirects))
    }

    fn pool(&self, place: &Place) -> Rc<Pool> {
        let mut pools = self.pools.borrow_mut();
        let make = || {
            let like = self.options.seeds.iter().find(|seed| seed.place == *place).unwrap_or(&self.options.seeds[0]);
            Pool::new(NodeOptions { place: place.clone(), ..like.clone() }, self.options.read_only)
        };
        Rc::clone(pools.entry(place.clone()).or_insert_with(make))
    }

    /// Who has the key of the request; without one, anybody.
    fn place_of(&self, request: &Request) -> Place {
        let slots = self.slots.borrow();
        let of = match request.key() {
            Some(key) => {
                let slot = redis_keyslot(key);
                slots.iter().find(|(first, last, _)| (*first..=*last).contains(&slot))
            }
            None => slots.get(fastrand::usize(..slots.len())),
        };
        let places = of.map(|(_, _, places)| places.as_slice()).unwrap_or_default();
        let chosen = match self.options.read_only && !places.is_empty() {
            true => places.get(fastrand::usize(..places.len())),
            false => places.first(),
        };
        chosen.unwrap_or(&self.options.seeds[0].place).clone()
    }

    /// Asks who has which slots.
    async fn learn(&self, vu: &Vu) -> Result<(), String> {
        let mut problem = String::new();
        for seed in &self.options.seeds {
            match self.pool(&seed.place).call(vu, &Request::of(&["CLUSTER", "SLOTS"])).await {
                Ok(OwnedFrame::Array(ranges)) if !ranges.is_empty() => {
                    let slots: Vec<_> = ranges.iter().filter_map(|range| read_range(range, &seed.place)).collect();
                    if !slots.is_empty() {
                        *self.slots.borrow_mut() = slots;
                        return Ok(());
                    }
                    problem = String::from("the server's list of slots cannot be read");
                }
                Ok(OwnedFrame::Error(why)) | Err(why) => problem = why,
                Ok(_) => problem = String::from("the cluster has no slots yet"),
            }
        }
        Err(problem)
    }
}

/// First slot, last slot, then the servers: host, port and more of each.
pub(crate) fn read_range(range: &OwnedFrame, told_by: &Place) -> Option<(u16, u16, Vec<Place>)> {
    let OwnedFrame::Array(parts) = range else { return None };
    let [OwnedFrame::Integer(first), OwnedFrame::Integer(last), servers @ ..] = parts.as_slice() else { return None };
    let servers = servers.iter().filter_map(|server| {
        let OwnedFrame::Array(parts) = server else { return None };
        let [OwnedFrame::BulkString(host), OwnedFrame::Integer(port), ..] = parts.as_slice() else { return None };
        let host = String::from_utf8_lossy(host).into_owned();
        // A server that does not know its own address leaves it empty: it is where the answer came from.
        let host = if host.is_empty() { told_by.host.clone() } else { host };
        Some(Place { host, port: u16::try_from(*port).ok()? })
    });
    Some((u16::try_from(*first).ok()?, u16::try_from(*last).ok()?, servers.collect()))
}

/// `MOVED slot host:port`, or `ASK` for this command alone.
pub(crate) fn redirect(why: &str, told_by: &Place) -> Option<(bool, Place)> {
    let mut words = why.split(' ');
    let is_ask = match words.next()? {
        "ASK" => true,
        "MOVED" => false,
        _ => return None,
    };
    let (host, port) = words.nth(1)?.rsplit_once(':')?;
    let host = if host.is_empty() { told_by.host.clone() } else { host.to_owned() };
    Some((is_ask, Place { host, port: port.parse().ok()? }))
}

/// A master whose place is asked for, again when it is lost.
pub struct Sentinel {
    asked: Rc<Pool>,
    options: SentinelOptions,
    master: RefCell<Option<Rc<Pool>>>,
}

impl Sentinel {
    async fn call(&self, vu: &Vu, request: &Request) -> Result<OwnedFrame, String> {
        let known = self.master.borrow().clone();
        let master = match known {
            Some(master) => master,
            None => self.find(vu).await?,
        };
        let outcome = master.call(vu, request).await;
        let is_lost = match &outcome {
            Ok(OwnedFrame::Error(why)) => why.starts_with("READONLY"),
            Ok(_) => false,
            Err(_) => true,
        };
        if is_lost {
            self.master.borrow_mut().take();
        }
        outcome
    }

    async fn find(&self, vu: &Vu) -> Result<Rc<Pool>, String> {
        let name = &self.options.master;
        let question = Request::of(&["SENTINEL", "get-master-addr-by-name", name]);
        let place = match self.asked.call(vu, &question).await? {
            OwnedFrame::Array(parts) => match parts.as_slice() {
                [OwnedFrame::BulkString(host), OwnedFrame::BulkString(port)] => {
                    let port = String::from_utf8_lossy(port).parse().ok();
                    port.map(|port| Place { host: String::from_utf8_lossy(host).into_owned(), port })
                }
                _ => None,
            },
            OwnedFrame::Error(why) => return Err(why),
            _ => None,
        };
        let Some(place) = place else {
            return Err(format!("redis: the sentinel knows no master called {name:?} (masterName)"));
        };
        let master = Pool::new(NodeOptions { place, ..self.options.node.clone() }, false);
        *self.master.borrow_mut() = Some(Rc::clone(&master));
        Ok(master)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn redirects_name_a_server() {
        let here = Place { host: String::from("here"), port: 1 };
        let there = |host: &str| Place { host: host.to_owned(), port: 7001 };
        assert_eq!(redirect("MOVED 3999 10.0.0.1:7001", &here), Some((false, there("10.0.0.1"))));
        assert_eq!(redirect("ASK 3999 :7001", &here), Some((true, there("here"))));
        assert_eq!(redirect("ERR no such key", &here), None);
        assert_eq!(redirect("MOVED 3999", &here), None);
    }
}
