//! A target in the foreground: `serve ADDRESS [WORKERS]`, until its standard input closes; prints the counts at the
//! end.

#![allow(clippy::disallowed_macros, clippy::disallowed_methods, reason = "a program of its own")]

use std::io::Read;
use std::time::Duration;

use onrush_server::{Server, ServerConfig};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let address = args.next().unwrap_or_else(|| "127.0.0.1:0".to_owned()).parse()?;
    let workers = args.next().map_or(Ok(1), |n| n.parse())?;
    let server = Server::start(ServerConfig { tcp: vec![address], workers, ..ServerConfig::default() })?;
    println!("http://{}", server.addresses().tcp[0]);
    std::io::stdin().read_to_end(&mut Vec::new())?;
    println!("{:#}", server.stop(Duration::from_secs(1)));
    Ok(())
}
