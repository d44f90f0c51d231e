//! The methods by their paths.

use grpc::status::{self, Status};

use crate::grpc::call::Call;
use crate::grpc::ended::Outcome;
use crate::grpc::{health, reflection, target};

/// Runs the method of that path for as long as the client waits.
pub(crate) async fn outcome(path: &str, call: &Call) -> Outcome {
    let deadline = call.deadline()?;
    call.until(deadline, run(path, call)).await
}

/// Runs the method of that path.
async fn run(path: &str, call: &Call) -> Outcome {
    let unknown = || Err(Status::new(status::UNIMPLEMENTED, format!("unknown method {path:?}")).into());
    let Some((service, method)) = path.strip_prefix('/').and_then(|path| path.rsplit_once('/')) else {
        return unknown();
    };
    match (service, method) {
        ("onrush.test.v1.Target", "Echo") => target::echo(call).await,
        ("onrush.test.v1.Target", "Delay") => target::delay(call).await,
        ("onrush.test.v1.Target", "Fail") => target::fail(call).await,
        ("onrush.test.v1.Target", "Metadata") => target::metadata(call).await,
        ("onrush.test.v1.Target", "Collect") => target::collect(call).await,
        ("onrush.test.v1.Target", "Count") => target::count(call).await,
        ("onrush.test.v1.Target", "Chat") => target::chat(call).await,
        ("grpc.health.v1.Health", "Check") => health::check(call).await,
        ("grpc.health.v1.Health", "Watch") => health::watch(call).await,
        (reflection::V1 | reflection::V1ALPHA, "ServerReflectionInfo") => reflection::info(call).await,
        _ => unknown(),
    }
}
