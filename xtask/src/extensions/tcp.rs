//! Streams of bytes: servers of this program, since what they do to a connection is what is tested.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

use super::suite::Suite;

/// The test script against a server that echoes, one that closes its side, one that resets and one that never reads.
pub(super) fn cases(suite: &Suite) -> Result<(), String> {
    let ports = [("echo", serve(echo)?), ("half", serve(half)?), ("reset", serve(reset)?), ("sink", serve(sink)?)];
    let ports: Vec<String> = ports.iter().map(|(name, port)| format!("\"{name}\":{port}")).collect();
    suite.script("tcp", "four servers", &[&format!("TCP={{{}}}", ports.join(","))])
}

/// Gives each connection to `handle`; ends with the program.
fn serve(handle: fn(TcpStream) -> io::Result<()>) -> Result<u16, String> {
    let listener = TcpListener::bind("127.0.0.1:0").map_err(|error| format!("cannot listen: {error}"))?;
    let port = listener.local_addr().map_err(|error| error.to_string())?.port();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            thread::spawn(move || handle(stream));
        }
    });
    Ok(port)
}

fn echo(mut stream: TcpStream) -> io::Result<()> {
    let mut back = stream.try_clone()?;
    io::copy(&mut stream, &mut back).map(drop)
}

fn half(mut stream: TcpStream) -> io::Result<()> {
    stream.write_all(b"bye")?;
    stream.shutdown(Shutdown::Write)?;
    io::copy(&mut stream, &mut io::sink()).map(drop)
}

/// What lies unread when a socket is closed makes Linux send a reset.
fn reset(mut stream: TcpStream) -> io::Result<()> {
    stream.read_exact(&mut [0])?;
    thread::sleep(Duration::from_millis(50));
    Ok(())
}

fn sink(stream: TcpStream) -> io::Result<()> {
    thread::sleep(Duration::from_secs(60));
    drop(stream);
    Ok(())
}
