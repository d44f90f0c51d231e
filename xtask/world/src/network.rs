//! The network that clients are given: dialling, clocks, timers, and what breaks connections later.

use std::future::pending;
use std::io;
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Duration;

use engine::clock::Clock;
use wire::simulated::{Network, SimulatedSocket, Wait};

use crate::cable::{Cable, ClientEnd};
use crate::case::magnitude;
use crate::ledger::{ConnectionLog, DialLog, Fate};
use crate::server;
use crate::world::World;

/// The network of a world.
pub(crate) struct WorldNetwork(pub(crate) Rc<World>);

impl Network for WorldNetwork {
    fn now_ns(&self) -> u64 {
        self.0.clock.now().as_nanos() as u64
    }

    fn wall_ns(&self) -> u64 {
        self.0.wall_at(self.0.clock.now())
    }

    fn sleep_until(&self, at_ns: u64) -> Wait<()> {
        let clock = self.0.clock.clone();
        Box::pin(async move { clock.sleep_until(Duration::from_nanos(at_ns)).await })
    }

    fn connect(&self, _: SocketAddr) -> Wait<io::Result<Box<dyn SimulatedSocket>>> {
        Box::pin(connect(Rc::clone(&self.0)))
    }
}

async fn connect(world: Rc<World>) -> io::Result<Box<dyn SimulatedSocket>> {
    let began = world.clock.now();
    let fate = world.draw(|random| match random.u32(..1000) < world.case.weather.of_connection {
        false => Fate::Accepted,
        true => [Fate::Refused, Fate::Unreachable, Fate::Unanswered, Fate::Accepted][random.usize(..4)],
    });
    let (least, more) = world.case.weather.latency_us;
    let took = world.draw(|random| Duration::from_micros(2 * (least + random.u64(..=more))));
    let at = {
        let dials = &mut world.ledger.borrow_mut().dials;
        dials.push(DialLog { fate, began, ended: began + took });
        dials.len()
    };
    debug_assert!(at > 0);
    let number = match fate {
        Fate::Unanswered => return pending().await,
        _ => {
            world.clock.sleep_until(began + took).await;
            world.ledger.borrow().connections.len()
        }
    };
    match fate {
        Fate::Refused => return Err(io::Error::from_raw_os_error(libc::ECONNREFUSED)),
        Fate::Unreachable => return Err(io::Error::from_raw_os_error(libc::EHOSTUNREACH)),
        Fate::Unanswered | Fate::Accepted => {}
    }
    let opened = world.clock.now();
    world.ledger.borrow_mut().connections.push(ConnectionLog { began, opened, ..ConnectionLog::default() });
    let cable = Cable::new(&world, number, world.draw(|random| random.u64(..)));
    tokio::task::spawn_local(server::serve(Rc::clone(&cable)));
    trouble(&cable);
    Ok(Box::new(ClientEnd(cable)))
}

/// A connection may break later, or fall silent.
fn trouble(cable: &Rc<Cable>) {
    let world = &cable.world;
    let troubled = world.draw(|random| random.u32(..1000) < world.case.weather.of_connection);
    if !troubled {
        return;
    }
    let after = world.draw(|random| Duration::from_micros(magnitude(random, 8..22)));
    let at = world.clock.now() + after;
    if world.draw(fastrand::Rng::bool) {
        let cable = Rc::clone(cable);
        tokio::task::spawn_local(async move {
            cable.world.clock.sleep_until(at).await;
            cable.cut();
        });
    } else {
        cable.up.borrow_mut().black_from = at;
        cable.down.borrow_mut().black_from = at;
        world.ledger.borrow_mut().connections[cable.number].loses_bytes = true;
    }
}
