//! `--referee`: a thread of its own asks for what the users ask for, fifty times a second, on one kept connection. It
//! has nothing else to do, so what the users' median is above its own is the generator's.
//!
//! Requests go one after the other: one that takes long delays the next, which moves a median little. Cookies of users
//! and links of scenarios are not its own; answers with another status than the users' are left out and counted.

use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use metrics::Trend;
use report::document;
use script::referee::{Probe, Referee};
use tokio::sync::oneshot;
use units::show::{grouped, time};
use wire::request::{Auth, BodyUse};
use wire::{Client, ClientContext, Method, Request, Settings, Url};

/// From request to request.
const EVERY: Duration = Duration::from_millis(20);
/// How often it is looked for the first request of a user.
const LOOK: Duration = Duration::from_millis(5);
/// A request that takes longer is given up.
const TIMEOUT: Duration = Duration::from_secs(10);
/// The users' median may be above by this, in ms, or by this share.
const NOTABLE_BIAS: (f64, f64) = (0.2, 0.05);
/// Fewer requests on either side have no median to speak of.
const ENOUGH: u64 = 20;

/// What it was answered.
#[derive(Default)]
struct AskedAgain {
    durations: Trend,
    /// Without an answer, or with another status than the users had.
    failed: u64,
}

/// A referee at work.
pub struct RefereeThread {
    referee: Arc<Referee>,
    stop: oneshot::Sender<()>,
    thread: std::thread::JoinHandle<AskedAgain>,
}

impl RefereeThread {
    /// Starts one; the error says why there can be none.
    pub fn start(referee: Arc<Referee>, settings: Settings) -> Result<RefereeThread, String> {
        let (stop, stopped) = oneshot::channel();
        let of_thread = referee.clone();
        let ask = move || {
            let mut answers = AskedAgain::default();
            let runtime = wire::event_loop();
            // Without a runtime it has no answers, and that is said at the end.
            let Ok(runtime) = runtime else { return answers };
            runtime.block_on(async {
                tokio::select! {
                    () = ask(&of_thread, settings, &mut answers) => {}
                    _ = stopped => {}
                }
            });
            answers
        };
        let thread = std::thread::Builder::new().name("referee".to_owned()).spawn(ask);
        let thread = thread.map_err(|error| format!("cannot start the thread of --referee: {error}"))?;
        Ok(RefereeThread { referee, stop, thread })
    }

    /// Ends it: what it found.
    pub fn finish(self) -> document::Referee {
        let _ended_already = self.stop.send(());
        let answers = self.thread.join().unwrap_or_default();
        found(&self.referee, &answers)
    }
}

/// Asks for as long as somebody listens.
async fn ask(referee: &Referee, settings: Settings, answers: &mut AskedAgain) {
    let probe = loop {
        match referee.probe() {
            Some(probe) => break probe,
            None => tokio::time::sleep(LOOK).await,
        }
    };
    let (Ok(context), Ok(url)) = (ClientContext::new(Arc::new(settings)), Url::parse(&probe.url)) else { return };
    let (client, request) = (Client::new(context), request(probe, url));
    let mut due = Instant::now();
    loop {
        tokio::time::sleep_until(due.into()).await;
        let exchange = client.send(&request, None, &mut |_| {}).await;
        match &exchange.outcome {
            Ok(answer) if answer.status == probe.status => {
                answers.durations.add(exchange.timings.duration().as_secs_f64() * 1e3);
            }
            _ => answers.failed += 1,
        }
        due = (due + EVERY).max(Instant::now());
    }
}

fn request(probe: &Probe, url: Url) -> Request {
    Request {
        method: Method::Get,
        url,
        headers: probe.headers.clone().into(),
        cookies: Rc::new([]),
        body: None,
        timeout: Some(TIMEOUT),
        max_redirects: 0,
        auth: Auth::FromUserinfo,
        body_use: BodyUse::Discard,
        prior_knowledge: false,
        tls: None,
    }
}

fn found(referee: &Referee, answers: &AskedAgain) -> document::Referee {
    let (own, users) = (&answers.durations, referee.measured());
    let url =
        referee.probe().map(|probe| Url::parse(&probe.url).map_or_else(|_| String::new(), |url| url.text.clone()));
    document::Referee {
        url,
        requests: own.count(),
        failed: answers.failed,
        med_ms: median(own),
        users_requests: users.count(),
        users_med_ms: median(&users),
    }
}

fn median(trend: &Trend) -> Option<f64> {
    (trend.count() > 0).then(|| trend.percentile(50.0))
}

/// Both medians in ms, the users' and the referee's own, where there are enough requests and they are apart.
pub fn bias(found: &document::Referee) -> Option<(f64, f64)> {
    let (users, own) = found.users_med_ms.zip(found.med_ms)?;
    let are_enough = found.requests >= ENOUGH && found.users_requests >= ENOUGH;
    let (least_ms, share) = NOTABLE_BIAS;
    (are_enough && users - own > least_ms.max(own * share)).then_some((users, own))
}

/// What the summary says of it.
pub fn lines(found: &document::Referee) -> Vec<String> {
    let Some(url) = &found.url else {
        return vec![String::from(
            "the referee asked for nothing: no user made a plain GET (without body, redirect or link) that it could \
             repeat, or none to the address of --referee",
        )];
    };
    let Some((users, own)) = found.users_med_ms.zip(found.med_ms) else {
        return vec![format!(
            "the referee got no answer to GET {url} like those of the users, in {} requests: cookies and redirects of \
             users are not its own",
            grouped(found.failed)
        )];
    };
    let sign = if users >= own { "+" } else { "-" };
    vec![format!(
        "referee: GET {url} asked for from beside the workers {} times, med {}; by the users {} times, med {}: \
         {sign}{}",
        grouped(found.requests),
        time(own),
        grouped(found.users_requests),
        time(users),
        time((users - own).abs())
    )]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(requests: u64, own: f64, users: f64) -> document::Referee {
        document::Referee {
            url: Some("http://a/".into()),
            requests,
            med_ms: Some(own),
            users_requests: 1000,
            users_med_ms: Some(users),
            ..document::Referee::default()
        }
    }

    #[test]
    fn a_bias_is_more_than_a_twentieth_and_more_than_a_fifth_of_a_millisecond() {
        assert_eq!(bias(&found(100, 1.0, 1.21)), Some((1.21, 1.0)));
        assert_eq!(bias(&found(100, 1.0, 1.19)), None);
        assert_eq!(bias(&found(100, 10.0, 10.49)), None);
        assert_eq!(bias(&found(100, 10.0, 10.51)), Some((10.51, 10.0)));
        assert_eq!(bias(&found(19, 1.0, 9.0)), None);
        assert_eq!(bias(&found(100, 9.0, 1.0)), None);
    }

    #[test]
    fn what_was_found_is_said_with_its_sign() {
        let said = lines(&found(100, 1.0, 1.25)).remove(0);
        assert!(said.ends_with("100 times, med 1ms; by the users 1,000 times, med 1.25ms: +250µs"), "{said}");
        let nothing = lines(&document::Referee::default()).remove(0);
        assert!(nothing.starts_with("the referee asked for nothing"), "{nothing}");
    }
}
