//! A door in front of a server, which the test shuts: connections break, as they do when a network goes.

use std::collections::BTreeMap;
use std::io;
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// Passes bytes on.
pub struct Proxy {
    pub address: SocketAddr,
    to: Arc<Mutex<Option<SocketAddr>>>,
    open: OpenPairs,
}

/// Connections, each with the one behind it.
type OpenPairs = Arc<Mutex<BTreeMap<u64, [TcpStream; 2]>>>;

impl Proxy {
    pub fn start() -> io::Result<Proxy> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        let (to, open) = (Arc::new(Mutex::new(None)), OpenPairs::default());
        let proxy = Proxy { address, to: Arc::clone(&to), open: Arc::clone(&open) };
        std::thread::spawn(move || {
            for (number, stream) in (0..).zip(listener.incoming().flatten()) {
                let Some(to) = *to.lock().expect("no panics") else { continue };
                let Ok(there) = TcpStream::connect(to) else { continue };
                let streams = [&stream, &there].map(|stream| stream.try_clone().expect("a descriptor"));
                open.lock().expect("no panics").insert(number, streams);
                let close = || (Arc::clone(&open), number);
                pass(&stream, &there, close());
                pass(&there, &stream, close());
            }
        });
        Ok(proxy)
    }

    /// Where bytes go from now on.
    pub fn lead_to(&self, address: SocketAddr) {
        *self.to.lock().expect("no panics") = Some(address);
    }

    /// Breaks what is open, and whatever comes until it leads somewhere again.
    #[cfg(feature = "objects")]
    pub fn shut(&self) {
        *self.to.lock().expect("no panics") = None;
        self.cut();
    }

    /// Breaks what is open.
    pub fn cut(&self) {
        for stream in std::mem::take(&mut *self.open.lock().expect("no panics")).values().flatten() {
            let _is_gone = stream.shutdown(Shutdown::Both);
        }
    }
}

/// Both ends are forgotten when one of them has nothing more to say: a test has few descriptors.
fn pass(from: &TcpStream, to: &TcpStream, (open, number): (OpenPairs, u64)) {
    let ends = (from.try_clone().expect("a descriptor"), to.try_clone().expect("a descriptor"));
    std::thread::spawn(move || {
        let (mut from, mut to) = ends;
        let _ = io::copy(&mut from, &mut to);
        let _ = to.shutdown(Shutdown::Both);
        open.lock().expect("no panics").remove(&number);
    });
}
