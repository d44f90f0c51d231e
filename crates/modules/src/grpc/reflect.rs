//! `connect(addr, { reflect: true })`: asks the server for its descriptors, by the newer version of the service, then
//! by the older one.

use std::collections::BTreeMap;
use std::future::poll_fn;
use std::sync::Arc;

use bytes::Bytes;
use grpc::editions::ProtoFile;
use grpc::frame;
use grpc::reflection::{Answer, PATHS, Question};
use grpc::status::{self, Status};
use grpc::{Schema, SchemaError};
use host::log::{Level, Record};
use wire::client::Http2Call;

use super::call;
use super::connect::{Connected, DEFAULT_TIMEOUT};
use super::dialect::CallDialect;
use super::receiver::{self, Heard, Receiver};
use script::Vu;

/// A stream of questions and answers.
struct Talk {
    call: Http2Call,
    receiver: Receiver,
}

impl Talk {
    async fn ask(&mut self, question: Question<'_>) -> Result<Answer, Status> {
        let mut message = vec![0; frame::PREFIX];
        message.extend_from_slice(&question.encode());
        frame::finish(&mut message, 0);
        self.call.send(Bytes::from(message), false);
        loop {
            if let Some(message) = self.receiver.message()? {
                return Answer::decode(&message).map_err(|why| Status::new(status::INTERNAL, why));
            }
            let event = poll_fn(|cx| self.call.poll(cx)).await;
            if let Heard::Over(status) = self.receiver.hear(event) {
                return Err(status);
            }
        }
    }

    /// Every file that describes a service, with what it imports.
    /// One that cannot be had costs its own services only; `problems` says why.
    async fn files(&mut self, services: &[String], problems: &mut Vec<String>) -> Result<Vec<ProtoFile>, String> {
        let mut found = BTreeMap::new();
        let mut wanted: Vec<String> = Vec::new();
        for service in services {
            let answer = self.ask(Question::Symbol(service)).await.map_err(|status| told(&status))?;
            if let Err(why) = take(answer, &mut found, &mut wanted) {
                problems.push(format!("can't find {service}: {why}"));
            }
        }
        while let Some(name) = wanted.pop() {
            if found.contains_key(&name) {
                continue;
            }
            let answer = self.ask(Question::File(&name)).await.map_err(|status| told(&status))?;
            if (!matches!(answer, Answer::Refused(_)) || !name.starts_with("google/protobuf/"))
                && let Err(why) = take(answer, &mut found, &mut wanted)
            {
                problems.push(format!("can't find {name}: {why}"));
            }
        }
        Ok(found.into_values().collect())
    }
}

fn take(answer: Answer, found: &mut BTreeMap<String, ProtoFile>, wanted: &mut Vec<String>) -> Result<(), String> {
    match answer {
        Answer::Files(files) => {
            for bytes in files {
                let file = ProtoFile::decode(&bytes)?;
                wanted.extend(file.descriptor.dependency.iter().cloned());
                found.entry(file.descriptor.name().to_owned()).or_insert(file);
            }
            Ok(())
        }
        Answer::Refused(why) => Err(why),
        Answer::Services(_) => Err(String::from("the server answered with services, expected files")),
    }
}

/// Says which files could not be read: calls of their services fail, those of others do not.
pub fn warn<'a>(vu: &Vu, problems: impl Iterator<Item = &'a String>) {
    for problem in problems {
        let message = format!("grpc: services are missing, because their descriptors cannot be read: {problem}");
        vu.log().log(&Record { level: Level::Warning, message: &message, fields: &[] });
    }
}

/// A status in the words of gRPC for Go.
pub fn told(status: &Status) -> String {
    format!("rpc error: code = {} desc = {}", status.name(), status.message)
}

/// What the server describes.
pub async fn schema(vu: &Vu, connected: &Connected, metadata: &[(String, Vec<u8>)]) -> Result<Arc<Schema>, String> {
    let opened = connected.channel.connection(vu, DEFAULT_TIMEOUT).await;
    let connection = opened.map_err(|failure| told(&receiver::lost(&failure)))?;
    let mut problem = None;
    for path in PATHS {
        let head = call::call_head(connected, path, CallDialect::Grpc.fields(true, None), metadata)?;
        let receiver = Receiver::new(CallDialect::Grpc, true, connected.max_receive.max(4 << 20), None);
        let mut talk = Talk { call: connection.open(&head, None), receiver };
        match talk.ask(Question::Services).await {
            Ok(Answer::Services(services)) => {
                let mut problems = Vec::new();
                let files = talk.files(&services, &mut problems).await?;
                let schema = match Schema::from_files(files) {
                    Ok(schema) if schema.methods().is_empty() && !problems.is_empty() => Err(problems.swap_remove(0)),
                    Ok(schema) => Ok(schema),
                    Err(SchemaError(why)) => Err(problems.first().cloned().unwrap_or(why)),
                }?;
                warn(vu, problems.iter().chain(schema.unreadable()));
                return Ok(Arc::new(schema));
            }
            Ok(Answer::Refused(why)) => return Err(format!("can't list services: {why}")),
            Ok(Answer::Files(_)) => return Err(String::from("can't list services: the server answered with files")),
            Err(status) if status.code == status::UNIMPLEMENTED => problem = Some(status),
            Err(status) => return Err(format!("can't list services: {}", told(&status))),
        }
    }
    let status = problem.unwrap_or_default();
    Err(format!("can't list services: {}", told(&status)))
}
