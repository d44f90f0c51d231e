//! Azure's blobs, by the program that stands in for them where people develop. Google's storage has none that knows
//! its uploads and their conditions.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::Command;

use base64_simd::STANDARD;
use hmac::{Hmac, Mac};
use sha2::Sha256;

use crate::gateway::Service;
use crate::programs::{self, Server};

/// Azurite's only account, as its manual has it.
const ACCOUNT: &str = "devstoreaccount1";
const KEY: &str = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";

pub struct Azurite;

impl Service for Azurite {
    const PLACE: &'static str = "az://fleet/some/prefix";

    fn start(folder: &Path, at: SocketAddr) -> Result<Server, String> {
        let program = programs::find("azurite-blob", "AZURITE")?;
        let mut command = Command::new(program);
        command.args(["--blobHost", "127.0.0.1", "--blobPort", &at.port().to_string()]);
        command.args(["--inMemoryPersistence", "--silent", "--skipApiVersionCheck"]).current_dir(folder);
        let server = programs::start(&mut command, at)?;
        make_container(at).map(|()| server)
    }

    fn settings(front: SocketAddr) -> Vec<(&'static str, String)> {
        let endpoint = format!("http://{front}/{ACCOUNT}");
        vec![("endpoint", endpoint), ("account_name", ACCOUNT.to_owned()), ("account_key", KEY.to_owned())]
    }
}

/// A request with its answer's status line and body.
fn asked(at: SocketAddr, request: &str) -> Result<(String, String), String> {
    let failed = |error: std::io::Error| error.to_string();
    let mut stream = TcpStream::connect(at).map_err(failed)?;
    stream.write_all(request.as_bytes()).map_err(failed)?;
    let (mut status, mut rest) = (String::new(), String::new());
    let mut answer = BufReader::new(stream);
    answer.read_line(&mut status).map_err(failed)?;
    answer.read_to_string(&mut rest).map_err(failed)?;
    Ok((status.trim_end().to_owned(), rest))
}

/// By a signature with the shared key, as Azure's reference of its REST API has it.
fn make_container(at: SocketAddr) -> Result<(), String> {
    let (date, version) = ("Wed, 25 Nov 2026 00:00:00 GMT", "2023-11-03");
    let signed = format!(
        "PUT{}x-ms-date:{date}\nx-ms-version:{version}\n/{ACCOUNT}/{ACCOUNT}/fleet\nrestype:container",
        "\n".repeat(12)
    );
    let key = STANDARD.decode_to_vec(KEY).map_err(|error| error.to_string())?;
    let mut hmac = Hmac::<Sha256>::new_from_slice(&key).map_err(|error| error.to_string())?;
    hmac.update(signed.as_bytes());
    let signature = STANDARD.encode_to_string(hmac.finalize().into_bytes());
    let (status, rest) = asked(
        at,
        &format!(
            "PUT /{ACCOUNT}/fleet?restype=container HTTP/1.1\r\nHost: {at}\r\nContent-Length: 0\r\n\
             Connection: close\r\nx-ms-date: {date}\r\nx-ms-version: {version}\r\n\
             Authorization: SharedKey {ACCOUNT}:{signature}\r\n\r\n"
        ),
    )?;
    if status.contains(" 201 ") { Ok(()) } else { Err(format!("Azurite makes no container: {status} {rest}")) }
}
