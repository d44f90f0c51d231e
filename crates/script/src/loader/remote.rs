//! Modules imported from https URLs: fetched once for the process, through our own client.
//!
//! Each load asks the network first, so that a changed module is seen; what came is kept in the cache directory and
//! used, with a warning, when the network does not answer. Plain http is refused before this is reached.

use data_encoding::HEXLOWER;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use host::log::{Level, LogSink, Record};
use sha2::{Digest, Sha256};
use wire::mask::Mask;
use wire::request::{Auth, BodyUse};
use wire::{Body, Client, Method, Request, Url};

use crate::error::{ScriptError, exit_code};

/// As in k6: for the whole request.
const TIMEOUT: Duration = Duration::from_secs(60);
const MOST_REDIRECTS: u32 = 10;

/// The text of the module at `url`. `advice`: what the error says of an address that is not reached.
pub(crate) async fn fetch(
    url: &str,
    worker: Rc<wire::ClientContext>,
    cache: Option<&Path>,
    advice: Option<String>,
    log: &dyn LogSink,
) -> Result<String, ScriptError> {
    let cached = cache.map(|directory| cache_file(directory, url));
    match download(url, worker).await {
        Ok(text) => {
            if let Some(file) = cached {
                store(&file, &text);
            }
            Ok(text)
        }
        Err(cause) => {
            let known = cached.and_then(|file| std::fs::read_to_string(file).ok());
            let Some(text) = known else { return Err(unreachable_module(url, &cause, advice)) };
            let url = Mask::standard().url(url);
            let message = format!("cannot fetch {url} ({cause}): the copy of an earlier run is used");
            log.log(&Record { level: Level::Warning, message: &message, fields: &[] });
            Ok(text)
        }
    }
}

/// The copy of an earlier run, where nothing may be fetched.
pub(crate) fn kept(url: &str, cache: Option<&Path>, advice: Option<String>) -> Result<String, ScriptError> {
    let known = cache.and_then(|directory| std::fs::read_to_string(cache_file(directory, url)).ok());
    known.ok_or_else(|| {
        let url = Mask::standard().url(url);
        let message = format!(
            "cannot import {url}: --offline is set, and no earlier run kept a copy; run once without it, or download \
             the module and import it as a file{}",
            behind(advice)
        );
        ScriptError::new(message, exit_code::SCRIPT_EXCEPTION)
    })
}

/// The advice as the end of an error.
fn behind(advice: Option<String>) -> String {
    advice.map(|advice| format!("; {advice}")).unwrap_or_default()
}

fn unreachable_module(url: &str, cause: &str, advice: Option<String>) -> ScriptError {
    let url = Mask::standard().url(url);
    let message = format!(
        "cannot import {url}: {cause}; check the address and the network, or download the module and import it as a \
         file{}",
        behind(advice)
    );
    ScriptError::new(message, exit_code::SCRIPT_EXCEPTION)
}

async fn download(url: &str, worker: Rc<wire::ClientContext>) -> Result<String, String> {
    let request = Request {
        method: Method::Get,
        url: Url::parse(url).map_err(|error| error.message)?,
        headers: Rc::from([]),
        cookies: Rc::from([]),
        body: None,
        timeout: Some(TIMEOUT),
        max_redirects: MOST_REDIRECTS,
        auth: Auth::FromUserinfo,
        body_use: BodyUse::Keep,
        prior_knowledge: false,
        tls: None,
    };
    let client = Client::new(worker);
    let exchange = client.send(&request, None, &mut |_| {}).await;
    client.close_idle();
    let response = exchange.outcome.map_err(|failure| failure.message)?;
    if response.status != 200 {
        return Err(format!("the server answered with status {}", response.status));
    }
    let bytes = match response.body {
        Body::Kept(bytes) => bytes,
        _ => Default::default(),
    };
    String::from_utf8(bytes.to_vec()).map_err(|_| String::from("the answer is not UTF-8 text"))
}

fn cache_file(directory: &Path, url: &str) -> PathBuf {
    directory.join(HEXLOWER.encode(&Sha256::digest(url.as_bytes())))
}

/// Written beside and renamed, so that a run that starts meanwhile never reads half of it. A cache that cannot be
/// written is no reason to fail.
fn store(file: &Path, text: &str) {
    let Some(directory) = file.parent() else { return };
    let partial = file.with_extension(std::process::id().to_string());
    let written = std::fs::create_dir_all(directory).and_then(|()| std::fs::write(&partial, text));
    if written.is_err() || std::fs::rename(&partial, file).is_err() {
        let _ = std::fs::remove_file(&partial);
    }
}
