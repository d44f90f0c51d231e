//! Requests that are dropped before their answers came: the server may have read them, so they stay in the count.

use std::sync::Arc;
use std::time::Duration;

use onrush_wire::{Cancelled, Client, ClientContext, Exchange, Request, Settings};

use crate::server::{Scripted, get, post, response};

#[test]
fn a_request_cut_short_on_a_kept_connection_is_counted_with_its_bytes() {
    let server =
        Scripted::start(|seen| if seen.target == "/quick" { response("200 OK", &[], b"ok") } else { Vec::new() });
    let runtime = onrush_wire::event_loop().unwrap();
    for make in [get as fn(&str) -> Request, |url| post(url, "abc")] {
        let [quick, never] = ["/quick", "/never"].map(|path| make(&server.url(path)));
        let (answered, cancelled) = runtime.block_on(async {
            let context = ClientContext::new(Arc::new(Settings::default())).unwrap();
            let (client, mut ignored) = (Client::new(context.clone()), |_: &Exchange| {});
            let answered = client.send(&quick, None, &mut ignored).await;
            assert_eq!(context.take_cancelled(), Cancelled::default());
            let sending = client.send(&never, None, &mut ignored);
            assert!(tokio::time::timeout(Duration::from_millis(50), sending).await.is_err(), "nobody answers it");
            (answered, context.take_cancelled())
        });
        assert!(answered.outcome.is_ok());
        let expected = Cancelled { requests: 1, bytes_sent: answered.bytes_sent, bytes_received: 0 };
        assert_eq!(cancelled, expected);
    }
}
