//! From a request to a websocket: the 101 leaves, then the session has the connection until its end.
//!
//! What the client sent behind its request belongs to the session. Refuses nothing: who asks has checked the upgrade.

use std::io;

use crate::after::After;
use crate::h1::connection::Connection;
use crate::ws::{Opening, Session, Upgrade};
use wire::h1::request_head;

impl Connection {
    /// The upgrade that the next request asks for, if it is one in order.
    pub(crate) fn asked_upgrade(&self) -> Option<Upgrade> {
        let mut room = request_head::header_room();
        let head = request_head::parse(&self.input[self.start..], &mut room).ok()??;
        let headers: Vec<_> = head.headers.iter().map(|h| (h.name, h.value)).collect();
        Upgrade::check(head.method, head.minor, &headers).ok()
    }

    /// Answers with the 101 and serves the websocket to its end.
    pub(crate) async fn upgrade(&mut self, opening: Opening) -> io::Result<After> {
        let Opening { upgrade, protocol, headers, handler } = opening;
        let extra = headers.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let agreed = upgrade.answer(protocol.as_deref(), extra, self.out.buffer());
        if let Some(witness) = &self.witness {
            witness.responds(Some(101), Some(0));
        }
        self.flush().await?;
        let behind = self.input.split_off(self.start);
        // An open websocket has no use for the room of a head.
        self.input = Vec::new();
        self.start = 0;
        let worker = self.worker.clone();
        let session = Session::new(&mut self.stream, worker.stats(), worker.rooms(), agreed, handler, behind);
        let end = session.run().await;
        Ok(if end.unread { After::CloseUnread } else { After::Close })
    }
}
