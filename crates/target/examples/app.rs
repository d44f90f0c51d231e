//! An app in Rust that counts what is uploaded: `app ADDRESS [fresh]`, until its standard input closes.
//!
//! `fresh` allocates memory for each piece instead of using it again, for comparison.

use std::io::Read;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use onrush_target::app::Answering;
use onrush_target::{App, AppRequest, Buffers, Response, Server, ServerConfig};

struct Counting;

impl App for Counting {
    fn fetch(&self, mut request: AppRequest) -> Answering {
        Box::pin(async move {
            let mut received = 0;
            while let Some(piece) = request.body.next().await {
                received += piece.map_err(|e| e.to_string())?.len();
            }
            Ok(Response::json(200, &received.into()))
        })
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let address = args.next().unwrap_or_else(|| "127.0.0.1:0".to_owned()).parse()?;
    let buffers = Buffers { reuse: args.next().is_none_or(|how| how != "fresh"), ..Buffers::default() };
    let app: onrush_target::AppFactory = Arc::new(|| Ok(Rc::new(Counting)));
    let server =
        Server::start(ServerConfig { tcp: vec![address], app: Some(app), buffers, ..ServerConfig::default() })?;
    println!("http://{}", server.addresses().tcp[0]);
    std::io::stdin().read_to_end(&mut Vec::new())?;
    println!("{:#}", server.stop(Duration::from_secs(1)));
    Ok(())
}
