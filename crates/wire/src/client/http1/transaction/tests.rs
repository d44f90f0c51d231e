//! Each state of an exchange, reached with a real peer; and those that are none.

use std::future::poll_fn;
use std::io::Write as _;
use std::net::{TcpListener, TcpStream};
use std::rc::Rc;
use std::time::Duration;

use bytes::Bytes;

use super::*;
use crate::io::socket::Socket;
use crate::link::LinkedSocket;
use crate::room::Room;
use crate::settings::Settings;

/// An exchange with a peer that does what the test says.
struct Bench {
    transaction: Transaction,
    connection: Box<Connection>,
    io: IoContext,
    body: Vec<Segment>,
    room: Rc<Room>,
    place: Place,
    peer: Option<TcpStream>,
}

impl Bench {
    fn new(body: usize) -> Bench {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        client.set_nonblocking(true).unwrap();
        let socket = LinkedSocket::Direct(Socket::new(client.into(), true).unwrap());
        let (connection, io) = (Connection::new(socket), IoContext::new(Settings::default().limits, Some(0)));
        let (body, room) = (vec![Segment::Shared(Bytes::from(vec![7; body]))], Room::new(u64::MAX));
        let transaction = Transaction::new(&connection, &io, &work(&body, &room, &io));
        let place = Err(failure_map::timeout(Step::Send));
        let peer = Some(listener.accept().unwrap().0);
        Bench { transaction, connection, io, body, room, place, peer }
    }

    fn says(&mut self, text: &str) {
        self.peer.as_mut().unwrap().write_all(text.as_bytes()).unwrap();
    }

    async fn turn(&mut self) -> Poll<End> {
        let Bench { transaction, connection, io, body, room, place, .. } = self;
        let work = &work(body, room, io);
        let mut parties = Parties { connection, io, head: HEAD, work, place };
        poll_fn(|cx| Poll::Ready(transaction.poll(cx, &mut parties))).await
    }

    fn pair(&self) -> (&'static str, &'static str) {
        assert!(self.transaction.is_legal());
        let sending = match self.transaction.sending {
            Sending::UnderWay(_) => "under way",
            Sending::Sent(_) => "sent",
            Sending::Broken(..) => "broken",
            Sending::CutShort(_) => "cut short",
        };
        (sending, if self.transaction.first().is_none() { "nothing" } else { "some" })
    }

    /// Goes on until it is there.
    async fn reach(&mut self, sending: &'static str, receiving: &'static str) {
        for _ in 0..1000 {
            assert!(self.turn().await.is_pending(), "over before {sending}, {receiving}");
            if self.pair() == (sending, receiving) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        panic!("found {:?}, expected {sending}, {receiving}", self.pair());
    }
}

const HEAD: &[u8] = b"POST / HTTP/1.1\r\n\r\n";

fn work<'a>(body: &'a [Segment], room: &'a Rc<Room>, io: &'a IoContext) -> Work<'a> {
    let handling = Handling { is_bodiless: false, body_use: &BodyUse::Keep, room, heads: &io.heads };
    Work { body, deadline: None, handling }
}

/// More than the kernel takes from who is not read.
const MUCH: usize = 64 << 20;
const PART_OF_200: &str = "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc";
const PART_OF_413: &str = "HTTP/1.1 413 Too Large\r\nContent-Length: 9\r\n\r\nabc";

#[tokio::test]
async fn each_pair_is_reached_on_a_way_that_servers_go() {
    let mut usual = Bench::new(1);
    usual.reach("sent", "nothing").await;
    usual.says(PART_OF_200);
    usual.reach("sent", "some").await;

    let mut refused = Bench::new(MUCH);
    refused.reach("under way", "nothing").await;
    refused.says(PART_OF_413);
    refused.reach("cut short", "some").await;

    // Closed over bytes that nobody read: a reset. In the same turn of the event loop nothing tells of it but
    // writing.
    let mut dead = Bench::new(MUCH);
    dead.reach("under way", "nothing").await;
    dead.peer = None;
    assert!(dead.turn().await.is_pending());
    assert_eq!(dead.pair(), ("broken", "nothing"));

    let mut early = Bench::new(MUCH);
    early.says(PART_OF_200);
    early.reach("under way", "some").await;
    early.peer = None;
    assert!(early.turn().await.is_pending());
    assert_eq!(early.pair(), ("broken", "some"));
}

#[tokio::test]
async fn no_other_pair_is_legal() {
    let mut bench = Bench::new(MUCH);
    bench.reach("under way", "nothing").await;
    let unsent = bench.transaction.sending.unsent().unwrap();
    bench.transaction.sending = Sending::CutShort(unsent);
    assert!(!bench.transaction.is_legal(), "nothing came that could have refused it");
    bench.transaction.sending = Sending::UnderWay(unsent);
    bench.says(PART_OF_200);
    bench.reach("under way", "some").await;
    bench.transaction.receiving = Receiving::Nothing;
    assert!(!bench.transaction.is_legal(), "an answer has begun");
}

impl Bench {
    /// Goes on to the end.
    async fn end(&mut self) -> End {
        for _ in 0..1000 {
            if let Poll::Ready(end) = self.turn().await {
                return end;
            }
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        panic!("it never ends: {:?}", self.pair());
    }
}

#[tokio::test]
async fn a_peer_that_hangs_up_while_nothing_came_failed_the_sending() {
    let mut dead = Bench::new(MUCH);
    dead.reach("under way", "nothing").await;
    dead.peer = None;
    assert!(dead.turn().await.is_pending());
    let End::Failed(failure) = dead.end().await else { panic!("nobody answered") };
    assert_eq!((failure.step, failure.kind), (Step::Send, FailureKind::ConnectionReset), "{failure}");
}

#[tokio::test]
async fn a_peer_that_hangs_up_in_its_answer_failed_the_receiving() {
    let mut early = Bench::new(MUCH);
    early.says(PART_OF_200);
    early.reach("under way", "some").await;
    early.peer = None;
    assert!(early.turn().await.is_pending());
    let End::Failed(failure) = early.end().await else { panic!("the answer is not whole") };
    assert_eq!((failure.step, failure.kind), (Step::Receive, FailureKind::ConnectionReset), "{failure}");

    let mut usual = Bench::new(1);
    usual.reach("sent", "nothing").await;
    usual.says(PART_OF_200);
    usual.reach("sent", "some").await;
    usual.peer.take().unwrap().shutdown(std::net::Shutdown::Write).unwrap();
    let End::Failed(failure) = usual.end().await else { panic!("the answer is not whole") };
    assert_eq!(failure, failure_map::closed(Step::Receive));

    let mut silent = Bench::new(1);
    silent.reach("sent", "nothing").await;
    silent.peer.take().unwrap().shutdown(std::net::Shutdown::Write).unwrap();
    let End::Failed(failure) = silent.end().await else { panic!("nobody answered") };
    assert_eq!(failure, failure_map::closed(Step::Wait));
}

#[tokio::test]
async fn a_reset_that_writing_was_told_ends_no_body() {
    let mut early = Bench::new(MUCH);
    early.says("HTTP/1.1 200 OK\r\n\r\nabc");
    early.reach("under way", "some").await;
    early.peer = None;
    assert!(early.turn().await.is_pending());
    assert_eq!(early.pair(), ("broken", "some"));
    let End::Failed(failure) = early.end().await else { panic!("the server did not end it") };
    assert_eq!((failure.step, failure.kind), (Step::Receive, FailureKind::ConnectionReset), "{failure}");
}

#[tokio::test]
async fn an_answer_is_complete_and_clean_where_nothing_is_behind_it() {
    for (answer, is_clean) in [
        ("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc", true),
        ("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabcd", false),
    ] {
        let mut bench = Bench::new(1);
        bench.reach("sent", "nothing").await;
        bench.says(answer);
        let End::Complete { clean } = bench.end().await else { panic!("{answer} is whole") };
        assert_eq!(clean, is_clean, "{answer}");
    }
}
