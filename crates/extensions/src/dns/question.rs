//! One question to a name server as a message, and what the server's messages say to it.

use hickory_proto::op::{Message, MessageType, OpCode, Query, ResponseCode};
use hickory_proto::rr::{Name, RData, RecordType};

/// The records that can be asked for. One line a type.
const TYPES: &[(&str, RecordType)] = &[
    ("A", RecordType::A),
    ("AAAA", RecordType::AAAA),
    ("CNAME", RecordType::CNAME),
    ("MX", RecordType::MX),
    ("NS", RecordType::NS),
    ("PTR", RecordType::PTR),
    ("SRV", RecordType::SRV),
    ("TXT", RecordType::TXT),
];

/// A question, ready to be sent.
pub struct Question {
    message: Message,
    bytes: Vec<u8>,
}

/// What a message of the server means for a question.
#[derive(Debug, PartialEq, Eq)]
pub enum Reply {
    /// The data of the records that were asked for, as text; none where the name has no such record.
    Records(Vec<String>),
    /// It did not fit: to be asked again over a stream.
    Truncated,
    /// The code of an answer that is none: `NXDOMAIN`.
    Refused(String),
    /// It is no message of DNS.
    Malformed(String),
    /// It belongs to another question.
    Foreign,
}

impl Question {
    /// A question with this number; the error says what is wrong with it.
    pub fn new(name: &str, kind: &str, id: u16) -> Result<Question, String> {
        let Some((_, kind)) = TYPES.iter().find(|(known, _)| *known == kind) else {
            let known: Vec<&str> = TYPES.iter().map(|(name, _)| *name).collect();
            return Err(format!("found the record type {kind:?}, expected one of {}", known.join(", ")));
        };
        if name.is_empty() {
            return Err(String::from("found an empty name, expected one like \"example.com\""));
        }
        let wrong = |why: &dyn std::fmt::Display| format!("the name {name:?} cannot be asked for: {why}");
        let mut name = Name::from_str_relaxed(name).map_err(|error| wrong(&error))?;
        name.set_fqdn(true);
        let mut message = Message::new(id, MessageType::Query, OpCode::Query);
        message.metadata.recursion_desired = true;
        message.add_query(Query::query(name, *kind));
        let bytes = message.to_vec().map_err(|error| wrong(&error))?;
        Ok(Question { message, bytes })
    }

    /// The message.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// What a message says.
    pub fn read(&self, bytes: &[u8]) -> Reply {
        if !bytes.starts_with(&self.bytes[..2]) {
            return Reply::Foreign;
        }
        let message = match Message::from_vec(bytes) {
            Ok(message) => message,
            Err(error) => return Reply::Malformed(error.to_string()),
        };
        // Servers leave the question out of some errors.
        let is_of_another = !message.queries.is_empty() && message.queries != self.message.queries;
        if message.metadata.message_type != MessageType::Response || is_of_another {
            return Reply::Foreign;
        }
        match message.metadata.response_code {
            ResponseCode::NoError if message.metadata.truncation => Reply::Truncated,
            ResponseCode::NoError => {
                let kind = self.message.queries[0].query_type();
                let records = message.answers.iter().map(|record| &record.data);
                Reply::Records(records.filter(|data| data.record_type() == kind).map(text).collect())
            }
            code => Reply::Refused(name_of(code)),
        }
    }
}

/// The name that the standards and tools like `dig` give to a code.
fn name_of(code: ResponseCode) -> String {
    match code {
        ResponseCode::Unknown(number) => format!("RCODE{number}"),
        known => format!("{known:?}").to_ascii_uppercase(),
    }
}

/// The data of a record, as in a file of a zone; a text without quotes.
fn text(data: &RData) -> String {
    match data {
        RData::TXT(texts) => String::from_utf8_lossy(&texts.txt_data.concat()).into_owned(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use hickory_proto::rr::Record;
    use hickory_proto::rr::rdata::{A, CNAME};

    use super::*;

    fn reply(question: &Question, change: impl FnOnce(&mut Message)) -> Vec<u8> {
        let mut message = Message::response(question.message.metadata.id, OpCode::Query);
        message.add_query(question.message.queries[0].clone());
        change(&mut message);
        message.to_vec().unwrap()
    }

    #[test]
    fn a_question_has_the_bytes_of_rfc_1035() {
        let question = Question::new("a.test", "AAAA", 0x1234).unwrap();
        let expected = b"\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00\x01a\x04test\x00\x00\x1c\x00\x01";
        assert_eq!(question.bytes(), expected);
        let same = Question::new("a.test.", "AAAA", 0x1234).unwrap();
        assert_eq!(same.bytes(), expected, "with the dot of the root");
    }

    #[test]
    fn questions_that_cannot_be_asked_say_why() {
        let why = |name: &str, kind: &str| Question::new(name, kind, 1).err().unwrap_or_default();
        let types = "found the record type \"a\", expected one of A, AAAA, CNAME, MX, NS, PTR, SRV, TXT";
        assert_eq!(why("x.test", "a"), types);
        assert_eq!(why("", "A"), "found an empty name, expected one like \"example.com\"");
        let long = "x".repeat(64);
        assert!(why(&long, "A").starts_with(&format!("the name {long:?} cannot be asked for: ")));
        assert_eq!(why("_sip._tcp.x.test", "SRV") + &why("bücher.test", "A"), "");
    }

    #[test]
    fn answers_are_told_from_all_else() {
        let question = Question::new("a.test", "A", 7).unwrap();
        let name = Name::from_ascii("a.test.").unwrap();
        let alias = Name::from_ascii("b.test.").unwrap();
        let answered = reply(&question, |message| {
            message.add_answer(Record::from_rdata(name.clone(), 1, RData::CNAME(CNAME(alias.clone()))));
            message.add_answer(Record::from_rdata(alias.clone(), 1, RData::A(A::new(127, 0, 0, 9))));
        });
        assert_eq!(question.read(&answered), Reply::Records(vec![String::from("127.0.0.9")]));
        assert_eq!(question.read(&reply(&question, |_| {})), Reply::Records(vec![]));
        let cut = reply(&question, |message| message.metadata.truncation = true);
        assert_eq!(question.read(&cut), Reply::Truncated);
        for (code, name) in [(ResponseCode::NXDomain, "NXDOMAIN"), (ResponseCode::Unknown(12), "RCODE12")] {
            let refused = reply(&question, |message| message.metadata.response_code = code);
            assert_eq!(question.read(&refused), Reply::Refused(name.into()));
        }
        let bare = reply(&question, |message| {
            message.queries.clear();
            message.metadata.response_code = ResponseCode::FormErr;
        });
        assert_eq!(question.read(&bare), Reply::Refused("FORMERR".into()));
        let other = Question::new("other.test", "A", 7).unwrap();
        for foreign in [reply(&other, |_| {}), question.bytes().to_vec(), b"\x00\x08".to_vec(), vec![]] {
            assert_eq!(question.read(&foreign), Reply::Foreign, "{foreign:?}");
        }
        assert!(matches!(question.read(&answered[..20]), Reply::Malformed(_)));
    }
}
