//! What TLS and authentication cannot do here fails the request with the reason, and not the test.

mod missing_issuers;
mod own_tls;

use std::io::{Read, Write};
use std::net::TcpListener;

use crate::lab::Lab;

/// A server that refuses each handshake with this alert, as one does that has no version or no suite in common. Its
/// port.
fn refusing(alert: u8) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            let mut hello = [0; 4096];
            let _read = stream.read(&mut hello);
            let _sent = stream.write_all(&[0x15, 3, 1, 0, 2, 2, alert]);
        }
    });
    port
}

const PROTOCOL_VERSION: u8 = 70;
const HANDSHAKE_FAILURE: u8 = 40;

#[test]
fn old_versions_and_suites_fail_the_request_with_what_is_missing() {
    let version = "remote error: tls: protocol version not supported";
    let lacks = "not supported, only tls1.2 and tls1.3 are offered";
    let suite = "TLS_RSA_WITH_RC4_128_SHA";
    for (alert, options, code, error) in [
        (PROTOCOL_VERSION, "{}", 1010, version.to_owned()),
        (
            PROTOCOL_VERSION,
            "{ tlsVersion: { min: 'tls1.0', max: 'tls1.3' } }",
            1010,
            format!("{version} (tlsVersion: tls1.0 is {lacks})"),
        ),
        (
            PROTOCOL_VERSION,
            "{ tlsVersion: 'tls1.1' }",
            1300,
            String::from("tlsVersion: tls1.1 is the highest, and only tls1.2 and tls1.3 are supported"),
        ),
        (
            HANDSHAKE_FAILURE,
            "{ tlsCipherSuites: ['TLS_RSA_WITH_RC4_128_SHA', 'TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256'] }",
            1010,
            format!("remote error: tls: handshake failure (tlsCipherSuites: not supported and not offered: {suite})"),
        ),
    ] {
        let script = format!(
            "import http from 'k6/http'
             export const options = {options}
             export default function () {{
               const {{ status, error_code, error }} = http.get('https://127.0.0.1:{}/')
               console.log(`${{status}} ${{error_code}} ${{error}}|`)
             }}",
            refusing(alert),
        );
        Lab::with(&script).run(&["--log-format", "raw"]).code(0).says(&format!("0 {code} {error}|"));
    }
}

#[test]
fn ntlm_fails_the_request_and_stapled_answers_are_not_read() {
    let lab = Lab::with(
        "import http from 'k6/http'
         export const options = { insecureSkipTLSVerify: true }
         export default function () {
           const { status, error } = http.get(`${__ENV.TARGET}/`, { auth: 'ntlm' })
           console.log(`${status} ${error}|`)
           console.log(JSON.stringify(http.get(`${__ENV.TARGET_TLS}/`).ocsp))
         }",
    );
    let run = lab.run(&["--serve", "--log-format", "raw"]).code(0);
    let why = "auth \"ntlm\" is not supported yet: use basic or digest authentication, or send the headers";
    assert!(run.stderr.contains(&format!("0 {why}|")), "{}", run.stderr);
    assert!(run.stderr.contains("\"status\":\"unknown\""), "{}", run.stderr);
}
