//! `k6/x/dns` against a socket of the test; a real name server is in `cargo xtask extensions`.

use std::net::UdpSocket;
use std::thread;
use std::time::Duration;

use crate::lab::Lab;

#[test]
fn an_answer_is_told_from_a_strangers_and_its_code_is_named() {
    let server = UdpSocket::bind("127.0.0.1:0").unwrap();
    let at = server.local_addr().unwrap();
    let answering = thread::spawn(move || {
        server.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        let mut datagram = [0; 512];
        let (length, peer) = server.recv_from(&mut datagram).unwrap();
        let answer = &mut datagram[..length];
        // The question as an answer, with the code 3; first under another number.
        answer[2..4].copy_from_slice(&[0x81, 0x83]);
        answer[0] ^= 1;
        server.send_to(answer, peer).unwrap();
        answer[0] ^= 1;
        server.send_to(answer, peer).unwrap();
    });
    let lab = Lab::with(&format!(
        "import dns from 'k6/x/dns';
        export const options = {{
          thresholds: {{ dns_resolutions: ['count == 1'], data_sent: ['count == 24'], data_received: ['count == 48'] }},
        }};
        export default async function () {{
          await dns.resolve('a.test', 'A', '{at}').catch((e) => console.log(`${{e.name}} ${{e.rcode}} ${{e.message}}`));
        }}"
    ));
    let expected =
        format!("GoError NXDOMAIN resolve(\\\"a.test\\\", \\\"A\\\", \\\"{at}\\\"): the name server answered NXDOMAIN");
    lab.run(&[]).code(0).says(&expected);
    answering.join().unwrap();
}

#[test]
fn a_network_of_its_own_carries_no_question() {
    let lab = Lab::with(
        "import { resolve } from 'k6/x/dns';
        export default async function () { await resolve('a.test', 'A', '127.0.0.1:53'); }",
    );
    let why = "this user has a network of its own (the option network), which carries no UDP";
    lab.run(&["--network", "3g"]).says(why);
}
