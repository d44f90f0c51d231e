//! The REST API of a run, off unless `--address` is given: what k6 answers at `/v1/status`, `/v1/metrics`,
//! `/v1/groups`, `/v1/setup` and `/v1/teardown`, in JSON:API's shape.
//!
//! Served by the target's own server, on a thread of its own. It sees the run through a `Board`, on which the run
//! writes once a second; what a client asks for reaches the run through the board too. As in k6, only a run that has
//! not begun can be paused, and nobody listens while the script is being loaded: who finds the port open may resume.
//! k6 2.2 has no executor whose users a client may change; here the load of users and of rates can change (`wish`).

mod board;
mod shapes;
mod wish;

use std::future::Future;
use std::net::{SocketAddr, ToSocketAddrs};
use std::rc::Rc;
use std::sync::Arc;

use serde_json::Value;
use server::app::{Answering, App, AppRequest};
use server::respond::{Body, Response};
use server::{Server, ServerConfig};

pub use board::{Board, LoadRequest, Stage, Wish};
pub use wish::SCALE;

use crate::called_as;
use crate::exit_code::ExitCode;
use crate::failure::Failure;
use crate::listener_guard::ListenerGuard;

/// A body at most: setup data may be large.
const MOST_BODY: usize = 64 << 20;

/// The API of a run, as long as it lives.
pub struct Api {
    server: Server,
}

impl Api {
    /// Listens at `host:port`.
    pub fn start(address: &str, board: Arc<Board>) -> Result<Api, Failure> {
        let fail = |why: String| {
            Failure::new(ExitCode::RestServer, format!("--address {address}: the REST API cannot start: {why}"))
        };
        // As in Go, no host means all of this machine's addresses.
        let full = if address.starts_with(':') { format!("0.0.0.0{address}") } else { address.to_owned() };
        let found = full.to_socket_addrs().map_err(|error| fail(format!("{error}; expected HOST:PORT")))?;
        let tcp: Vec<SocketAddr> = found.take(1).collect();
        let guard = ListenerGuard::of(&tcp);
        let factory = move || Ok(Rc::new(Answers { board: Arc::clone(&board), guard }) as Rc<dyn App>);
        let config = ServerConfig { tcp, app: Some(Arc::new(factory)), ..ServerConfig::default() };
        Ok(Api { server: Server::start(config).map_err(|error| fail(error.to_string()))? })
    }

    /// Where it listens.
    pub fn address(&self) -> Option<SocketAddr> {
        self.server.addresses().tcp.first().copied()
    }
}

/// Answers requests.
struct Answers {
    board: Arc<Board>,
    guard: ListenerGuard,
}

impl App for Answers {
    fn fetch(&self, mut request: AppRequest) -> Answering {
        let board = Arc::clone(&self.board);
        let refusal = self.guard.refusal(&request);
        Box::pin(async move {
            if let Some(refusal) = refusal {
                return Ok(refusal);
            }
            let mut body = Vec::new();
            while let Some(piece) = request.body.next().await {
                let piece = piece.map_err(|error| error.to_string())?;
                if body.len() + piece.len() > MOST_BODY {
                    return Ok(refused(413, "Invalid data", "the body is larger than 64 MiB"));
                }
                body.extend_from_slice(&piece);
            }
            let path = request.target().split('?').next().unwrap_or_default().to_owned();
            Ok(answer(&board, request.method(), &path, &body).await)
        })
    }
}

async fn answer(board: &Board, method: &str, path: &str, body: &[u8]) -> Response {
    match (path, method) {
        ("/v1/status", "GET") => data(shapes::status(board)),
        ("/v1/status", "PATCH") => change(board, body).await,
        ("/v1/metrics", "GET") => data(Value::from_iter(shapes::metrics(board))),
        ("/v1/groups", "GET") => data(Value::from_iter(shapes::groups(board))),
        ("/v1/setup", "GET") => data(shapes::setup(board)),
        ("/v1/setup", "PUT") => match setup_data(body) {
            Ok(data) => done(board.wish(|reply| Wish::KeepSetup(data, reply)), board).await,
            Err(error) => refused(400, "Error parsing request body", &error.to_string()),
        },
        ("/v1/setup", "POST") => done(board.wish(Wish::SetUp), board).await,
        ("/v1/teardown", "POST") => match board.wish(Wish::TearDown).await {
            Ok(()) => empty(200),
            Err(why) => refused(500, "Error executing teardown", &why),
        },
        ("/v1/status" | "/v1/metrics" | "/v1/groups" | "/v1/setup" | "/v1/teardown", _) => empty(405),
        _ => match (path.strip_prefix("/v1/metrics/"), path.strip_prefix("/v1/groups/")) {
            (Some(_), _) | (_, Some(_)) if method != "GET" => empty(405),
            (Some(id), _) => found(shapes::metrics(board), id, "No metric with that ID was found"),
            (_, Some(id)) => found(shapes::groups(board), id, "No group with that ID was found"),
            _ => Response::text(404, "404 page not found\n"),
        },
    }
}

/// `PATCH /v1/status`: `{ data: { attributes: { paused, stopped, vus, vus-max, rate, scenario } } }`.
async fn change(board: &Board, body: &[u8]) -> Response {
    let asked: Value = match serde_json::from_slice(body) {
        Ok(asked) => asked,
        Err(error) => return refused(400, "Invalid data", &error.to_string()),
    };
    let attributes = &asked["data"]["attributes"];
    if attributes["stopped"] == true {
        board.stop();
        return data(shapes::status(board));
    }
    let is_given = |name: &&str| attributes.get(*name).is_some_and(|wanted| !wanted.is_null());
    // As k6 is at this version: whoever calls for k6 gets k6.
    if called_as::is_k6() && ["vus", "vus-max"].iter().any(is_given) {
        return refused(500, "Execution config error", "live VU configuration updates are not supported");
    }
    let wish = match wish::read(attributes) {
        Ok(wish) => wish,
        Err(why) => return refused(400, "Invalid data", &why),
    };
    let changes = match wish.is_empty() {
        true => Vec::new(),
        false => match board.change_load(&wish).await {
            Ok(changes) => changes,
            Err(why) => return refused(400, "Config update error", &why),
        },
    };
    if let Some(paused) = attributes["paused"].as_bool()
        && let Err(why) = board.set_paused(paused)
    {
        return refused(500, "Pause error", &why);
    }
    match wish.is_empty() {
        true => data(shapes::status(board)),
        false => json(
            200,
            &serde_json::json!({
                "data": shapes::status(board),
                "meta": { "changes": changes.iter().map(shapes::change).collect::<Vec<_>>() },
            }),
        ),
    }
}

/// What a client gives instead of calling `setup()`. An empty body stands for a `setup()` that returned nothing: that
/// is what `POST` answers then, and a client passes it on.
fn setup_data(body: &[u8]) -> serde_json::Result<Option<String>> {
    if body.trim_ascii().is_empty() {
        return Ok(None);
    }
    serde_json::from_slice::<Value>(body).map(|value| Some(value.to_string()))
}

async fn done(wish: impl Future<Output = Result<(), String>>, board: &Board) -> Response {
    match wish.await {
        Ok(()) => data(shapes::setup(board)),
        Err(why) => refused(500, "Error executing setup", &why),
    }
}

fn found(all: Vec<Value>, id: &str, missing: &str) -> Response {
    match all.into_iter().find(|one| one["id"] == id) {
        Some(one) => data(one),
        None => refused(404, "Not Found", missing),
    }
}

fn data(value: Value) -> Response {
    json(200, &serde_json::json!({ "data": value }))
}

fn refused(status: u16, title: &str, detail: &str) -> Response {
    let error = serde_json::json!({ "status": status.to_string(), "title": title, "detail": detail });
    json(status, &serde_json::json!({ "errors": [error] }))
}

fn json(status: u16, value: &Value) -> Response {
    let mut response = Response::bare(status, Body::Bytes(value.to_string().into_bytes()));
    response.content_type = Some("application/json; charset=utf-8".into());
    response
}

fn empty(status: u16) -> Response {
    Response::bare(status, Body::Bytes(Vec::new()))
}
