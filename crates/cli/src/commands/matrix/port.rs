//! Whether a port is free, and which process holds it when not.

use std::net::TcpListener;

use crate::process::listening::{self, Listening};

/// Refuses a port that somebody listens on: the load would measure that one.
pub fn must_be_free(port: &str) -> Result<(), String> {
    match TcpListener::bind(format!("127.0.0.1:{port}")) {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::AddrInUse => {
            let owner = port.parse().ok().and_then(owner).unwrap_or_else(|| String::from("another process"));
            Err(format!(
                "port {port} is taken by {owner}: end that one, or leave 'port' out and use {{port}}, which is free"
            ))
        }
        Err(error) => Err(format!("port {port} cannot be used: {error}")),
    }
}

/// `process 123 (nginx)`.
fn owner(port: u16) -> Option<String> {
    let Listening { pid, name } = listening::at_port(port).into_iter().next()?;
    Some(format!("process {pid} ({name})"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_owner_of_a_port_is_named() {
        let held = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = held.local_addr().unwrap().port().to_string();
        let message = must_be_free(&port).unwrap_err();
        assert!(message.starts_with(&format!("port {port} is taken by process {} (", std::process::id())), "{message}");
        drop(held);
        assert_eq!(must_be_free(&port), Ok(()));
    }
}
