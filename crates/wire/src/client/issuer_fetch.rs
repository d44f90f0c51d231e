//! Fetches certificates of authorities over http, for `tlsAIAFetch`: by the run's rules for names and addresses. No
//! user asks for them, so no sample has them.

use std::sync::Arc;
use std::time::Duration;

use crate::client::{Client, ClientContext};
use crate::request::{Auth, BodyUse, Method, Request};
use crate::response::{Body, Response};
use crate::settings::{IssuerFetch, Settings, TlsSettings};
use crate::syntax::url::Url;

/// For all of it, redirects included.
const PATIENCE: Duration = Duration::from_secs(5);
/// A certificate has some kilobytes.
const LARGEST: u64 = 256 * 1024;

/// Fetches by these settings. A redirect to https finds the usual trust, and nothing is fetched for that in turn.
pub fn issuer_fetch(mut settings: Settings) -> IssuerFetch {
    settings.tls = TlsSettings::default();
    settings.departures = None;
    settings.sizes.kept = LARGEST;
    settings.sizes.decoded.bytes = LARGEST;
    let settings = Arc::new(settings);
    IssuerFetch::new(move |url| Box::pin(fetch(Arc::clone(&settings), url)))
}

async fn fetch(settings: Arc<Settings>, url: String) -> Option<Vec<u8>> {
    let client = Client::new(ClientContext::new(settings).ok()?);
    let request = Request {
        method: Method::Get,
        url: Url::parse(&url).ok()?,
        headers: [].into(),
        cookies: [].into(),
        body: None,
        timeout: Some(PATIENCE),
        max_redirects: 2,
        auth: Auth::FromUserinfo,
        body_use: BodyUse::Keep,
        prior_knowledge: false,
        tls: None,
    };
    match client.send(&request, None, &mut |_| {}).await.outcome.ok()? {
        Response { status: 200, body: Body::Kept(content), .. } => Some(content.to_vec()),
        _ => None,
    }
}
