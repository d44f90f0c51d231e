//! An app that is a function, and a server's configuration with one.

use std::future::Future;
use std::rc::Rc;
use std::sync::Arc;

use onrush_server::app::Answering;
use onrush_server::{App, AppFactory, AppRequest, Response, ServerConfig};

struct Handler<F>(F);

impl<F, A> App for Handler<F>
where
    F: Fn(AppRequest) -> A,
    A: Future<Output = Result<Response, String>> + 'static,
{
    fn fetch(&self, request: AppRequest) -> Answering {
        Box::pin((self.0)(request))
    }
}

/// Serves that function on a free tcp port.
pub fn config<F, A>(handler: F) -> ServerConfig
where
    F: Fn(AppRequest) -> A + Clone + Send + Sync + 'static,
    A: Future<Output = Result<Response, String>> + 'static,
{
    let app: AppFactory = Arc::new(move || Ok(Rc::new(Handler(handler.clone()))));
    ServerConfig { tcp: vec!["127.0.0.1:0".parse().unwrap()], app: Some(app), ..ServerConfig::default() }
}
