//! Reflection: the files of the services, compiled when the first client asks.

use grpc::reflection::{Answer, Asked, Question};
use grpc::status::{INVALID_ARGUMENT, Status};
use prost_reflect::DescriptorPool;

use crate::grpc::call::Call;
use crate::grpc::ended::Outcome;
use crate::grpc::files::files;

pub(crate) const V1: &str = "grpc.reflection.v1.ServerReflection";
pub(crate) const V1ALPHA: &str = "grpc.reflection.v1alpha.ServerReflection";

/// Answers one question after the other.
pub(crate) async fn info(call: &Call) -> Outcome {
    while let Some(message) = call.next().await? {
        let asked = Asked::decode(&message).map_err(|error| Status::new(INVALID_ARGUMENT, error))?;
        call.send(&answer(asked.question()).encode(&message)).await?;
    }
    Ok(())
}

fn answer(question: Option<Question<'_>>) -> Answer {
    let files = files();
    let (file, asked) = match question {
        None => return Answer::Refused("the target has no extensions".to_owned()),
        Some(Question::Services) => {
            return Answer::Services(files.services().map(|service| service.full_name().to_owned()).collect());
        }
        Some(Question::Symbol(name)) => (file_of_symbol(files, name), format!("symbol not found: {name}")),
        Some(Question::File(name)) => (files.get_file_by_name(name), format!("file not found: {name}")),
    };
    // What it imports comes with it.
    let with_imports = |file: prost_reflect::FileDescriptor| {
        let files = [file.clone()].into_iter().chain(file.dependencies());
        files.map(|file| file.encode_to_vec()).collect()
    };
    file.map_or(Answer::Refused(asked), |file| Answer::Files(with_imports(file)))
}

/// The file that describes a message, an enum, a service or a method.
fn file_of_symbol(files: &DescriptorPool, name: &str) -> Option<prost_reflect::FileDescriptor> {
    let message = files.get_message_by_name(name).map(|found| found.parent_file());
    let an_enum = || files.get_enum_by_name(name).map(|found| found.parent_file());
    let service = || files.get_service_by_name(name).map(|found| found.parent_file());
    let method = || {
        let (service, method) = name.rsplit_once('.')?;
        let service = files.get_service_by_name(service)?;
        service.methods().any(|found| found.name() == method).then(|| service.parent_file())
    };
    message.or_else(an_enum).or_else(service).or_else(method)
}
