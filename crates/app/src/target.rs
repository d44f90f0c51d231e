//! An app as the server has it: what is asked of it, and what happens on its WebSockets.

use std::cell::OnceCell;
use std::rc::Rc;

use server::app::{Answering, AppRequest, Opening, PieceBuffer, Upgrade};
use server::ws::{self, Message, Socket, SocketHandler};

use crate::socket::{AppSocket, SocketEvent};
use crate::ticket::Ticket;
use crate::worker::{App, Handling};

/// A worker's app. Requests that are being answered keep it alive too.
pub(crate) struct AppHandle(pub Rc<App>);

impl server::App for AppHandle {
    fn fetch(&self, request: AppRequest) -> Answering {
        Box::pin(Handling::new(self.0.clone(), request))
    }

    fn accepts_websockets(&self) -> bool {
        self.0.exports.has_sockets
    }

    fn websocket(&self, request: &AppRequest, upgrade: Upgrade) -> Option<Opening> {
        let request = Ticket::new(request.without_body());
        request.leave();
        let handler = AppSocketHandler { app: self.0.clone(), request, socket: OnceCell::new() };
        let protocol = upgrade.protocols.first().map(ToString::to_string);
        Some(Opening::new(upgrade, Rc::new(handler)).protocol(protocol))
    }

    fn allocates(&self) -> bool {
        self.0.exports.allocates
    }

    /// What the script gave before the body was polled: it cannot be asked within the poll.
    fn allocate(&self, _size: usize) -> Option<Box<dyn PieceBuffer>> {
        Some(Box::new(self.0.door.allocated.take()?))
    }
}

/// One WebSocket, from its opening request on.
struct AppSocketHandler {
    app: Rc<App>,
    /// The opening request, which is answered by the upgrade.
    request: Rc<Ticket>,
    /// There once it is open.
    socket: OnceCell<Rc<AppSocket>>,
}

impl AppSocketHandler {
    fn tell(&self, event: SocketEvent) {
        if let Some(socket) = self.socket.get() {
            self.app.socket_event(socket, event);
        }
    }
}

impl SocketHandler for AppSocketHandler {
    fn open(&self, socket: &Socket) {
        let opened = || AppSocket::new(socket.clone(), self.request.clone(), self.app.door.clone());
        self.app.socket_event(self.socket.get_or_init(opened), SocketEvent::Open);
    }

    fn message(&self, socket: &Socket, message: Message<'_>) {
        let arrived_ns = socket.arrived_ns();
        self.tell(match message {
            Message::Text(text) => SocketEvent::Text(text.to_owned(), arrived_ns),
            Message::Binary(bytes) => SocketEvent::Binary(bytes.to_vec(), arrived_ns),
        });
    }

    fn wants_arrivals(&self) -> bool {
        self.app.user.messages.wants_arrivals()
    }

    fn max_message(&self) -> usize {
        self.app.door.max_message.get().map_or(ws::MAX_MESSAGE, |most| most as usize)
    }

    fn drain(&self, _: &Socket) {
        self.tell(SocketEvent::Drain);
    }

    fn close(&self, _: &Socket, code: u16, reason: &str) {
        self.tell(SocketEvent::Close(code, reason.to_owned()));
    }
}
