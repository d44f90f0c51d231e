//! Health checks: the target serves until it is told to stop.

use std::future::pending;

use grpc::status::{NOT_FOUND, Status};
use prost::Message;

use crate::grpc::call::Call;
use crate::grpc::ended::Outcome;
use crate::grpc::files::files;
use crate::grpc::messages::{HealthCheckRequest, HealthCheckResponse};
use crate::grpc::target::decoded;

/// `ServingStatus` of the file.
const SERVING: i32 = 1;
const NOT_SERVING: i32 = 2;
const SERVICE_UNKNOWN: i32 = 3;

/// What is said of a service, `None` of one that is not there; the empty name is the whole server.
fn serving(call: &Call, service: &str) -> Option<i32> {
    let is_known = service.is_empty() || files().get_service_by_name(service).is_some();
    is_known.then_some(if call.worker.is_stopping() { NOT_SERVING } else { SERVING })
}

async fn say(call: &Call, status: i32) -> Outcome {
    call.send(&HealthCheckResponse { status }.encode_to_vec()).await
}

pub(crate) async fn check(call: &Call) -> Outcome {
    let HealthCheckRequest { service } = decoded(&call.only().await?)?;
    match serving(call, &service) {
        Some(status) => say(call, status).await,
        None => Err(Status::new(NOT_FOUND, format!("unknown service {service:?}")).into()),
    }
}

/// Says how it is, and once more when the server stops.
pub(crate) async fn watch(call: &Call) -> Outcome {
    let HealthCheckRequest { service } = decoded(&call.only().await?)?;
    let Some(status) = serving(call, &service) else {
        say(call, SERVICE_UNKNOWN).await?;
        return pending().await;
    };
    say(call, status).await?;
    call.worker.stopped().await;
    if status == NOT_SERVING { Ok(()) } else { say(call, NOT_SERVING).await }
}
