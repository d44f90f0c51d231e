//! Opens the listening sockets: each worker gets one of its own for every address.
//!
//! With several workers a tcp port is shared by `SO_REUSEPORT`, so the kernel spreads connections without a common
//! lock. A port that something else listens on is refused all the same. A unix socket is one socket that all workers
//! accept from.

use std::fs;
use std::io;
use std::net::{self, TcpListener};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::path::{Path, PathBuf};

use socket2::{Domain, Protocol, Socket, Type};

/// Connections that wait to be accepted; the kernel cuts it to `net.core.somaxconn`.
const BACKLOG: i32 = 16 * 1024;

/// One listening socket of one worker.
#[derive(Debug)]
pub(crate) enum Listener {
    Tcp(TcpListener),
    Tls(TcpListener),
    Unix(UnixListener),
}

/// As many tcp listeners on one address as there are workers, and the address with its port.
pub(crate) fn tcp(address: net::SocketAddr, workers: usize) -> io::Result<(net::SocketAddr, Vec<TcpListener>)> {
    let shared = workers > 1;
    if shared && address.port() != 0 {
        // SO_REUSEPORT would silently share the port with another process of this user, which then gets half of the
        // load.
        tcp_socket(address, false).map_err(|e| context(e, &format!("cannot listen on {address}")))?;
    }
    let mut listeners = Vec::with_capacity(workers);
    let mut address = address;
    for _ in 0..workers {
        let socket = tcp_socket(address, shared).map_err(|e| context(e, &format!("cannot listen on {address}")))?;
        let listener = TcpListener::from(socket);
        address = listener.local_addr()?;
        listeners.push(listener);
    }
    Ok((address, listeners))
}

fn tcp_socket(address: net::SocketAddr, shared: bool) -> io::Result<Socket> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    socket.set_reuse_address(true)?;
    if shared {
        socket.set_reuse_port(true)?;
    }
    if address.is_ipv6() {
        socket.set_only_v6(true)?;
    }
    // Accepted sockets inherit it on Linux: one call here instead of one a connection.
    socket.set_tcp_nodelay(true)?;
    socket.set_nonblocking(true)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    Ok(socket)
}

/// One unix listener a worker, all the same socket. A socket file that nobody listens on is replaced; other files are
/// kept. A path that begins with `@` is a name without a file (Linux's abstract sockets).
pub(crate) fn unix(path: &Path, workers: usize) -> io::Result<(Option<SocketFile>, Vec<UnixListener>)> {
    let fail = |e| context(e, &format!("cannot listen on {}", path.display()));
    let name = path.as_os_str().as_bytes();
    let (file, socket) = match name.strip_prefix(b"@") {
        Some(name) => {
            (None, SocketAddr::from_abstract_name(name).and_then(|a| UnixListener::bind_addr(&a)).map_err(fail)?)
        }
        None => {
            remove_stale(path).map_err(fail)?;
            let listener = UnixListener::bind(path).map_err(fail)?;
            (Some(SocketFile(path.to_path_buf())), listener)
        }
    };
    let socket = Socket::from(socket);
    socket.set_nonblocking(true)?;
    // Again, with more room than the standard library gives.
    socket.listen(BACKLOG)?;
    let listeners = (0..workers).map(|_| Ok(UnixListener::from(socket.try_clone()?))).collect::<io::Result<_>>()?;
    Ok((file, listeners))
}

fn remove_stale(path: &Path) -> io::Result<()> {
    let is_socket = fs::symlink_metadata(path).is_ok_and(|m| m.file_type().is_socket());
    if is_socket && UnixStream::connect(path).is_err() { fs::remove_file(path) } else { Ok(()) }
}

fn context(error: io::Error, what: &str) -> io::Error {
    io::Error::new(error.kind(), format!("{what}: {error}"))
}

/// The file of a unix socket; removed with it.
#[derive(Debug)]
pub(crate) struct SocketFile(PathBuf);

impl Drop for SocketFile {
    fn drop(&mut self) {
        let _gone_already = fs::remove_file(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workers_share_a_port_but_strangers_do_not() {
        let free = net::SocketAddr::from(([127, 0, 0, 1], 0));
        let (address, listeners) = tcp(free, 3).unwrap();
        assert_eq!(listeners.len(), 3);
        assert!(listeners.iter().all(|l| l.local_addr().unwrap() == address));
        for workers in [1, 2] {
            let error = tcp(address, workers).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::AddrInUse);
            assert!(error.to_string().starts_with(&format!("cannot listen on {address}: ")));
        }
    }

    #[test]
    fn a_name_without_a_file_can_be_listened_on_once() {
        let name = format!("@onrush-listen-{}", std::process::id());
        let (file, listeners) = unix(Path::new(&name), 2).unwrap();
        assert!(file.is_none() && listeners.len() == 2 && !Path::new(&name).exists());
        let error = unix(Path::new(&name), 1).unwrap_err().to_string();
        assert!(error.starts_with(&format!("cannot listen on {name}: ")), "{error}");
        let address = SocketAddr::from_abstract_name(&name[1..]).unwrap();
        UnixStream::connect_addr(&address).unwrap();
    }
}
