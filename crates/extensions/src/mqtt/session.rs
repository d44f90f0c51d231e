//! The session of a client: packet numbers, what waits for an acknowledgement, what is sent again. No IO, no clock.
//!
//! Invariant: a message of QoS 2 that arrives twice is delivered once; what is published with QoS 1 or 2 is kept until
//! the broker has acknowledged it, over lost connections too.

use std::collections::{HashMap, HashSet};

use bytes::BytesMut;
use rumqttc::mqttbytes::QoS;
use rumqttc::mqttbytes::v4::{
    Packet, PubAck, PubComp, PubRec, PubRel, Publish, Subscribe, SubscribeFilter, SubscribeReasonCode, Unsubscribe,
};
use tokio::sync::oneshot;

/// Hears how a request ended; hears nothing when the session does.
pub type Done = oneshot::Sender<Result<(), String>>;

/// What waits for the broker.
#[derive(Debug)]
enum Waiting {
    Publish { publish: Publish, is_received: bool },
    Subscribe { filters: Vec<String> },
    Unsubscribe,
}

#[derive(Debug)]
struct Unanswered {
    /// Requests in the order in which they were made, which numbers that begin anew do not give.
    order: u64,
    waiting: Waiting,
    done: Done,
}

/// A session.
#[derive(Debug, Default)]
pub struct Session {
    last_number: u16,
    made: u64,
    requests: HashMap<u16, Unanswered>,
    /// Messages of QoS 2 that the broker has not released.
    held: HashSet<u16>,
}

impl Session {
    /// Whether nothing waits for the broker.
    pub fn is_idle(&self) -> bool {
        self.requests.is_empty()
    }

    /// A message of QoS 1 or 2; without a connection it is kept for the next.
    pub fn publish(&mut self, mut publish: Publish, done: Done, out: Option<&mut BytesMut>) -> Result<(), String> {
        publish.pkid = self.next_number()?;
        if let Some(out) = out {
            write(&Packet::Publish(publish.clone()), out)?;
        }
        // Only a message that is sent again says so.
        publish.dup = true;
        self.wait(publish.pkid, Waiting::Publish { publish, is_received: false }, done);
        Ok(())
    }

    /// A subscription.
    pub fn subscribe(&mut self, filters: Vec<String>, qos: QoS, done: Done, out: &mut BytesMut) -> Result<(), String> {
        let pkid = self.next_number()?;
        let asked = filters.iter().map(|filter| SubscribeFilter::new(filter.clone(), qos)).collect();
        write(&Packet::Subscribe(Subscribe { pkid, filters: asked }), out)?;
        self.wait(pkid, Waiting::Subscribe { filters }, done);
        Ok(())
    }

    /// The end of a subscription.
    pub fn unsubscribe(&mut self, topics: Vec<String>, done: Done, out: &mut BytesMut) -> Result<(), String> {
        let pkid = self.next_number()?;
        write(&Packet::Unsubscribe(Unsubscribe { pkid, topics }), out)?;
        self.wait(pkid, Waiting::Unsubscribe, done);
        Ok(())
    }

    fn wait(&mut self, number: u16, waiting: Waiting, done: Done) {
        self.made += 1;
        debug_assert_ne!(number, 0, "packets are numbered from 1 on (MQTT 3.1.1 section 2.3.1)");
        let before = self.requests.insert(number, Unanswered { order: self.made, waiting, done });
        debug_assert!(before.is_none(), "number {number} was free");
    }

    /// Numbers are from 1, and each is free until its request is done (MQTT 3.1.1, 2.3.1).
    fn next_number(&mut self) -> Result<u16, String> {
        if self.requests.len() >= usize::from(u16::MAX) {
            return Err(String::from("65535 requests wait for the broker: await some before you make more"));
        }
        loop {
            self.last_number = self.last_number.checked_add(1).unwrap_or(1);
            if !self.requests.contains_key(&self.last_number) {
                return Ok(self.last_number);
            }
        }
    }

    /// Takes in a packet; answers go to `out`. Gives the message for the script, if it is one.
    pub fn receive(&mut self, packet: Packet, out: &mut BytesMut) -> Result<Option<Publish>, String> {
        match packet {
            Packet::Publish(publish) => return self.message(publish, out),
            Packet::PubRel(release) => {
                self.held.remove(&release.pkid);
                write(&Packet::PubComp(PubComp::new(release.pkid)), out)?;
            }
            Packet::PubRec(receipt) => {
                if let Some(Unanswered { waiting: Waiting::Publish { is_received, .. }, .. }) =
                    self.requests.get_mut(&receipt.pkid)
                {
                    *is_received = true;
                }
                // Also to a number that is unknown, so that the broker forgets it.
                write(&Packet::PubRel(PubRel::new(receipt.pkid)), out)?;
            }
            Packet::PubAck(ack) => self.finish(ack.pkid, |_| Ok(())),
            Packet::PubComp(ack) => self.finish(ack.pkid, |_| Ok(())),
            Packet::UnsubAck(ack) => self.finish(ack.pkid, |_| Ok(())),
            Packet::SubAck(ack) => self.finish(ack.pkid, |waiting| refused(waiting, &ack.return_codes)),
            Packet::PingResp => {}
            other => return Err(format!("the broker sent what only clients send: {other:?}")),
        }
        Ok(None)
    }

    fn message(&mut self, publish: Publish, out: &mut BytesMut) -> Result<Option<Publish>, String> {
        match publish.qos {
            QoS::AtMostOnce => {}
            QoS::AtLeastOnce => write(&Packet::PubAck(PubAck::new(publish.pkid)), out)?,
            QoS::ExactlyOnce => {
                write(&Packet::PubRec(PubRec::new(publish.pkid)), out)?;
                if !self.held.insert(publish.pkid) {
                    return Ok(None);
                }
            }
        }
        Ok(Some(publish))
    }

    fn finish(&mut self, number: u16, outcome: impl FnOnce(&Waiting) -> Result<(), String>) {
        if let Some(request) = self.requests.remove(&number) {
            // Nobody may wait any more.
            let _heard = request.done.send(outcome(&request.waiting));
        }
    }

    /// The connection is lost: only messages are sent again.
    pub fn lose(&mut self, why: &str) {
        let subscriptions = |_: &u16, request: &mut Unanswered| !matches!(request.waiting, Waiting::Publish { .. });
        for (_, request) in self.requests.extract_if(subscriptions) {
            let _heard = request.done.send(Err(why.to_owned()));
        }
        let is_message = |request: &Unanswered| matches!(request.waiting, Waiting::Publish { .. });
        debug_assert!(self.requests.values().all(is_message), "only messages are sent again");
    }

    /// There is a connection again: sends what was not acknowledged, in the order in which it was published. Where the
    /// broker has forgotten the session, it has forgotten what it was about to release, too.
    pub fn resume(&mut self, is_known: bool, out: &mut BytesMut) -> Result<(), String> {
        if !is_known {
            self.held.clear();
        }
        let mut numbers: Vec<(u64, u16)> = self.requests.iter().map(|(n, request)| (request.order, *n)).collect();
        numbers.sort_unstable();
        for (_, number) in numbers {
            match &self.requests[&number].waiting {
                Waiting::Publish { is_received: true, .. } => write(&Packet::PubRel(PubRel::new(number)), out)?,
                Waiting::Publish { publish, .. } => write(&Packet::Publish(publish.clone()), out)?,
                Waiting::Subscribe { .. } | Waiting::Unsubscribe => {}
            }
        }
        Ok(())
    }
}

/// What the broker refused of a subscription.
fn refused(waiting: &Waiting, codes: &[SubscribeReasonCode]) -> Result<(), String> {
    let Waiting::Subscribe { filters } = waiting else { return Ok(()) };
    let failed = filters.iter().zip(codes).filter(|(_, code)| **code == SubscribeReasonCode::Failure);
    let names: Vec<String> = failed.map(|(filter, _)| format!("{filter:?}")).collect();
    match names.as_slice() {
        [] => Ok(()),
        names => Err(format!("the broker refused the subscription to {}", names.join(", "))),
    }
}

/// Adds the bytes of a packet.
pub fn write(packet: &Packet, out: &mut BytesMut) -> Result<(), String> {
    packet.write(out, usize::MAX).map(drop).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use rumqttc::mqttbytes::v4::{SubAck, UnsubAck};
    use tokio::sync::oneshot::error::TryRecvError;

    /// The packets that were written.
    fn packets(out: &mut BytesMut) -> Vec<Packet> {
        let mut packets = Vec::new();
        while !out.is_empty() {
            packets.push(Packet::read(out, 1000).unwrap());
        }
        packets
    }

    fn published(session: &mut Session, qos: QoS, out: Option<&mut BytesMut>) -> oneshot::Receiver<Result<(), String>> {
        let (done, heard) = oneshot::channel();
        session.publish(Publish::new("t", qos, "x"), done, out).unwrap();
        heard
    }

    #[test]
    fn a_message_of_quality_two_is_delivered_once() {
        let (mut session, mut out) = (Session::default(), BytesMut::new());
        let mut message = Publish::new("t", QoS::ExactlyOnce, "x");
        message.pkid = 7;
        assert!(session.receive(Packet::Publish(message.clone()), &mut out).unwrap().is_some());
        assert!(session.receive(Packet::Publish(message.clone()), &mut out).unwrap().is_none());
        assert!(session.receive(Packet::PubRel(PubRel::new(7)), &mut out).unwrap().is_none());
        let receipt = Packet::PubRec(PubRec::new(7));
        assert_eq!(packets(&mut out), [receipt.clone(), receipt, Packet::PubComp(PubComp::new(7))]);
        assert!(session.receive(Packet::Publish(message), &mut out).unwrap().is_some(), "the number is free again");
    }

    #[test]
    fn what_was_not_acknowledged_is_sent_again_in_order() {
        let (mut session, mut out) = (Session::default(), BytesMut::new());
        let mut one = published(&mut session, QoS::AtLeastOnce, Some(&mut out));
        let mut two = published(&mut session, QoS::ExactlyOnce, Some(&mut out));
        let mut three = published(&mut session, QoS::ExactlyOnce, None);
        session.receive(Packet::PubRec(PubRec::new(2)), &mut out).unwrap();
        let first = packets(&mut out);
        assert!(matches!(&first[0], Packet::Publish(Publish { dup: false, pkid: 1, .. })), "{first:?}");
        assert_eq!(first[2..], [Packet::PubRel(PubRel::new(2))]);
        session.lose("gone");
        session.resume(false, &mut out).unwrap();
        let again = packets(&mut out);
        assert!(matches!(&again[0], Packet::Publish(Publish { dup: true, pkid: 1, .. })), "{again:?}");
        assert_eq!(again[1], Packet::PubRel(PubRel::new(2)));
        assert!(matches!(&again[2], Packet::Publish(Publish { pkid: 3, .. })), "{again:?}");
        assert_eq!(one.try_recv(), Err(TryRecvError::Empty));
        session.receive(Packet::PubAck(PubAck::new(1)), &mut out).unwrap();
        session.receive(Packet::PubComp(PubComp::new(2)), &mut out).unwrap();
        session.receive(Packet::PubComp(PubComp::new(3)), &mut out).unwrap();
        assert_eq!([one.try_recv(), two.try_recv(), three.try_recv()], [Ok(Ok(())), Ok(Ok(())), Ok(Ok(()))]);
        assert!(session.is_idle());
    }

    #[test]
    fn subscriptions_hear_of_refusals_and_of_losses() {
        let (mut session, mut out) = (Session::default(), BytesMut::new());
        let (done, mut heard) = oneshot::channel();
        session.subscribe(vec!["a".into(), "b".into()], QoS::AtMostOnce, done, &mut out).unwrap();
        let codes = vec![SubscribeReasonCode::Success(QoS::AtMostOnce), SubscribeReasonCode::Failure];
        session.receive(Packet::SubAck(SubAck::new(1, codes)), &mut out).unwrap();
        assert_eq!(heard.try_recv(), Ok(Err(String::from("the broker refused the subscription to \"b\""))));
        let (done, mut heard) = oneshot::channel();
        session.unsubscribe(vec!["a".into()], done, &mut out).unwrap();
        session.receive(Packet::UnsubAck(UnsubAck::new(2)), &mut out).unwrap();
        assert_eq!(heard.try_recv(), Ok(Ok(())));
        let (done, mut heard) = oneshot::channel();
        session.subscribe(vec!["c".into()], QoS::AtMostOnce, done, &mut out).unwrap();
        session.lose("gone");
        assert_eq!(heard.try_recv(), Ok(Err(String::from("gone"))));
    }

    #[test]
    fn numbers_that_are_in_use_are_skipped() {
        let (mut session, mut out) = (Session { last_number: 65533, ..Session::default() }, BytesMut::new());
        let _heard: Vec<_> = (0..4).map(|_| published(&mut session, QoS::AtLeastOnce, Some(&mut out))).collect();
        session.last_number = 65535;
        let _other = published(&mut session, QoS::AtLeastOnce, Some(&mut out));
        let numbers: Vec<u16> = packets(&mut out)
            .into_iter()
            .map(|packet| match packet {
                Packet::Publish(publish) => publish.pkid,
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(numbers, [65534, 65535, 1, 2, 3]);
    }
}
