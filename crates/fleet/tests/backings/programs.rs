//! Servers that other people make, where they are installed: in `$ENGINES/bin`, or on the path.

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A process that ends with the test.
pub struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Where a program is; the error says where it was looked for.
pub fn find(name: &str, variable: &str) -> Result<PathBuf, String> {
    let named = std::env::var_os(variable).map(PathBuf::from);
    let engines = std::env::var_os("ENGINES").map(|folder| PathBuf::from(folder).join("bin").join(name));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let on_path = std::env::split_paths(&path).map(|folder| folder.join(name));
    let found = named.into_iter().chain(engines).chain(on_path).find(|path| path.is_file());
    found.ok_or_else(|| format!("{name} is not installed: looked for ${variable}, $ENGINES/bin and PATH"))
}

/// An address that nobody listens at.
pub fn free() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.local_addr().expect("an address")
}

/// Starts it, and waits until it listens there.
pub fn start(command: &mut Command, at: SocketAddr) -> Result<Server, String> {
    let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    let server = Server(child.map_err(|error| error.to_string())?);
    let until = Instant::now() + Duration::from_secs(20);
    while TcpStream::connect(at).is_err() {
        if Instant::now() > until {
            return Err(format!("{command:?} does not listen at {at}"));
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    Ok(server)
}
