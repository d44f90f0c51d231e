//! Azure's blobs and Google's storage, by the programs that stand in for them where people develop: Azurite, and
//! fake-gcs-server. The latter replaces objects although it was asked not to, which a fleet has to find out.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::Command;

use base64_simd::STANDARD;
use hmac::{Hmac, Mac};
use onrush_fleet::Credentials;
use onrush_fleet::objects::{ObjectsHub, StorePlace};
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

#[tokio::test]
async fn a_store_of_googles_kind_is_reached_and_one_that_replaces_objects_is_named() {
    let program = match programs::find("fake-gcs-server", "FAKE_GCS") {
        Ok(program) => program,
        Err(why) => return eprintln!("skipped: {why}"),
    };
    let at = programs::free();
    let mut command = Command::new(program);
    command.args(["-scheme", "http", "-host", "127.0.0.1", "-port", &at.port().to_string(), "-backend", "memory"]);
    let _server = programs::start(command.args(["-public-host", &at.to_string()]), at).unwrap();
    let bucket = r#"{"name":"fleet"}"#;
    let (status, rest) = asked(
        at,
        &format!(
            "POST /storage/v1/b HTTP/1.1\r\nHost: {at}\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\nConnection: close\r\n\r\n{bucket}",
            bucket.len()
        ),
    )
    .unwrap();
    assert!(status.contains(" 200 "), "{status} {rest}");
    let endpoint = format!("http://{at}");
    let settings = [("base_url", endpoint.as_str()), ("skip_signature", "true")];
    let token = Credentials::make().unwrap().token();
    for (place, said) in [
        ("gs://fleet/some/prefix", "this store does not refuse to replace an object"),
        ("gs://another/some/prefix", "there is no such bucket"),
    ] {
        let place = StorePlace::open_with(place, &settings).unwrap();
        let error = ObjectsHub::open(place, &token, b"archive".to_vec()).await.err().unwrap_or_default();
        assert!(error.to_string().contains(said), "{error}");
    }
}
