//! A load that clients change while it runs, in simulated time: users come and go, rates turn, and what cannot change
//! is refused by name.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod fake;

use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use fake::{FakeUsers, Ran, simulation};
use onrush_engine::pacer::Rate;
use onrush_engine::segment::{Segment, Sequence, Stripes};
use onrush_engine::{ChangedBy, LoadWish, RunState};
use serde_json::{Value, json};

fn wish() -> LoadWish {
    LoadWish { scenario: None, users: None, most: None, rate: None, by: ChangedBy::Rest }
}

fn users(users: u64) -> LoadWish {
    LoadWish { users: Some(users), ..wish() }
}

fn rate(iterations: u64) -> LoadWish {
    LoadWish { rate: Some(Rate { iterations, per: Duration::from_secs(1) }), ..wish() }
}

/// Runs these scenarios, and wishes at these ticks; with what came of each wish.
fn changed(
    scenarios: Value,
    (acts, workers, stripes): (FakeUsers, usize, Stripes),
    wishes: Vec<(u64, LoadWish)>,
) -> (Ran, Vec<Result<usize, String>>) {
    let state: Arc<OnceLock<Arc<RunState>>> = Arc::default();
    let answers: Arc<Mutex<Vec<Result<usize, String>>>> = Arc::default();
    let (seen, said) = (Arc::clone(&state), Arc::clone(&answers));
    let mut run = simulation(scenarios, acts).workers(workers);
    run.stripes = stripes;
    run.configure = Box::new(move |config| {
        state.set(Arc::clone(&config.state)).unwrap();
    });
    run.on_tick = Box::new(move |elapsed| {
        let state = seen.get().unwrap();
        for (_, wish) in
            wishes.iter().filter(|(at, _)| Duration::from_secs(*at) == Duration::from_secs(elapsed.as_secs()))
        {
            let changes = state.change_load(wish, state.started().unwrap() + elapsed);
            said.lock().unwrap().push(changes.map(|changes| changes.len()));
        }
    });
    let ran = run.run();
    let answers = answers.lock().unwrap().clone();
    (ran, answers)
}

fn whole(ms: u64, workers: usize) -> (FakeUsers, usize, Stripes) {
    (FakeUsers::sleeping(ms), workers, Stripes::whole())
}

/// Iterations that ran at a moment.
fn running(ran: &Ran, at_ms: u64) -> usize {
    ran.diary.iter().filter(|entry| entry.began <= at_ms && at_ms < entry.ended).count()
}

#[test]
fn users_come_and_go_as_a_client_wishes() {
    let constant = json!({ "a": { "executor": "constant-vus", "vus": 3, "duration": "10s" } });
    let ramping = json!({ "a": { "executor": "ramping-vus", "startVUs": 3, "stages": [
        { "duration": "5s", "target": 3 }, { "duration": "5s", "target": 3 } ] } });
    for (scenarios, workers) in [(&constant, 1), (&ramping, 1), (&constant, 2), (&ramping, 3)] {
        let wishes = vec![(2, users(7)), (4, users(1)), (6, users(0)), (8, users(4))];
        let (ran, answers) = changed(scenarios.clone(), whole(50, workers), wishes);
        assert_eq!(answers, vec![Ok(1); 4], "{scenarios}");
        let seen = [1_500, 2_600, 4_600, 6_600, 8_600, 9_990].map(|at| running(&ran, at));
        assert_eq!(seen, [3, 7, 1, 0, 4, 4], "{scenarios} on {workers}");
        assert_eq!(ran.outcome.stopped, None);
        assert_eq!(ran.diary.iter().filter(|entry| !entry.completed).count(), 0);
        let changes = ran.state.load_changes();
        let told: Vec<_> = changes.iter().map(|change| (change.from, change.to)).collect();
        assert_eq!(told, [(3.0, 7.0), (7.0, 1.0), (1.0, 0.0), (0.0, 4.0)]);
        assert!(changes[0].at > Duration::from_secs(2) && changes[0].at < Duration::from_secs(3), "{changes:?}");
        // Each position has one user, who comes back.
        assert_eq!(ran.made.len(), 7, "{scenarios}: {:?}", ran.made);
    }
}

#[test]
fn a_change_replaces_the_rest_of_a_ramp() {
    let scenarios = json!({ "a": { "executor": "ramping-vus", "startVUs": 0, "stages": [
        { "duration": "4s", "target": 8 }, { "duration": "8s", "target": 0 } ] } });
    let (ran, answers) = changed(scenarios, whole(10, 2), vec![(2, users(6))]);
    assert_eq!(answers, [Ok(1)]);
    assert_eq!([1_500, 2_500, 5_000, 11_900].map(|at| running(&ran, at)), [3, 6, 6, 6]);
    assert_eq!(ran.made.len(), 8, "those of the plan were made");
}

#[test]
fn an_iteration_that_is_not_wanted_any_more_has_its_grace() {
    let scenarios = |grace: &str| {
        let users = json!({ "executor": "constant-vus", "vus": 2, "duration": "20s", "gracefulStop": grace });
        json!({ "a": users })
    };
    let (ran, _) = changed(scenarios("2s"), whole(9_000, 1), vec![(3, users(1))]);
    let cut: Vec<_> = ran.interrupted().iter().map(|entry| (entry.began, entry.ended)).collect();
    let at = ran.state.load_changes()[0].at.as_millis() as u64;
    assert_eq!(cut, [(0, at + 2_000), (18_000, 22_000)]);
    // Wanted again within its grace, it goes on.
    let (ran, _) = changed(scenarios("5s"), whole(9_000, 1), vec![(3, users(1)), (5, users(2))]);
    let ended: Vec<_> = ran.diary.iter().filter(|entry| entry.began == 0).map(|entry| entry.ended).collect();
    assert_eq!(ended, [9_000, 9_000]);
}

#[test]
fn a_rate_turns_and_its_starts_stay_on_plan() {
    let constant = json!({ "a": { "executor": "constant-arrival-rate", "rate": 10, "duration": "10s",
        "preAllocatedVUs": 16, "maxVUs": 16 } });
    let ramping = json!({ "a": { "executor": "ramping-arrival-rate", "startRate": 10, "preAllocatedVUs": 16,
        "stages": [{ "duration": "10s", "target": 10 }] } });
    for (scenarios, workers) in [(&constant, 1), (&constant, 2), (&ramping, 1), (&ramping, 2)] {
        let (ran, answers) =
            changed(scenarios.clone(), whole(5, workers), vec![(2, rate(100)), (6, rate(0)), (8, rate(50))]);
        assert_eq!(answers, vec![Ok(1); 3]);
        let starts = |from: u64, to: u64| ran.begins().iter().filter(|at| (from..to).contains(*at)).count();
        let seconds = [(1_000, 2_000), (3_000, 4_000), (4_000, 5_000), (6_500, 7_500), (9_000, 10_000)];
        assert_eq!(seconds.map(|(from, to)| starts(from, to)), [10, 100, 100, 0, 50], "{scenarios} on {workers}");
        assert!(ran.diary.iter().all(|entry| entry.planned == entry.began), "no start is late");
        let counts = ran.state.counts();
        assert_eq!((counts.dropped, counts.started), (0, counts.completed));
        assert!(ran.outcome.health.arrivals.achieved_share() > 0.999, "{:?}", ran.outcome.health.arrivals);
    }
}

#[test]
fn a_rate_that_rests_is_woken() {
    let scenarios = json!({ "a": { "executor": "constant-arrival-rate", "rate": 1, "timeUnit": "1h",
        "duration": "10s", "preAllocatedVUs": 4 } });
    let (ran, answers) = changed(scenarios, whole(5, 1), vec![(3, rate(20))]);
    assert_eq!(answers, [Ok(1)]);
    let from = ran.state.load_changes()[0].at.as_secs_f64();
    let expected = (20.0 * (10.0 - from)).floor() as usize + 1;
    assert_eq!(ran.begins().len(), expected, "the first start, and those of the new rate");
}

#[test]
fn a_rate_gets_more_users_when_it_may_have_them() {
    let scenarios = json!({ "a": { "executor": "constant-arrival-rate", "rate": 10, "duration": "10s",
        "preAllocatedVUs": 2, "maxVUs": 2 } });
    let more = LoadWish { most: Some(40), ..rate(30) };
    let (ran, answers) = changed(scenarios.clone(), whole(500, 1), vec![(5, more)]);
    assert_eq!(answers, [Ok(2)]);
    assert!(running(&ran, 4_900) <= 2 && running(&ran, 9_900) == 15, "{}", running(&ran, 9_900));
    let fewer = LoadWish { most: Some(1), ..wish() };
    let (_, answers) = changed(scenarios, whole(500, 1), vec![(5, fewer)]);
    let refused = "scenario 'a' (constant-arrival-rate): found 1 users at most, expected 2 or more: users stay";
    assert_eq!(answers, [Err(refused.to_owned())]);
}

#[test]
fn the_parts_of_a_test_add_up() {
    let scenarios = json!({
        "a": { "executor": "constant-vus", "vus": 3, "duration": "6s" },
        "b": { "executor": "constant-arrival-rate", "rate": 9, "duration": "6s", "preAllocatedVUs": 20 },
    });
    let sequence = Sequence::parse("0,1/3,1").unwrap();
    let (mut at_work, mut starts) = (0, Vec::new());
    for segment in ["0:1/3", "1/3:1"] {
        let stripes = Stripes::new(Some(Segment::parse(segment).unwrap()), Some(&sequence)).unwrap();
        let (ran, answers) =
            changed(scenarios.clone(), (FakeUsers::sleeping(10), 2, stripes), vec![(2, users(11)), (3, rate(33))]);
        assert_eq!(answers, vec![Ok(1); 2]);
        let of = |name: &'static str| ran.diary.iter().filter(move |entry| entry.scenario == name);
        at_work += of("a").filter(|entry| entry.began <= 5_005 && 5_005 < entry.ended).count();
        starts.extend(of("b").map(|entry| entry.planned).filter(|at| (4_000..5_000).contains(at)));
    }
    starts.sort_unstable();
    starts.dedup();
    assert_eq!((at_work, starts.len()), (11, 33));
}

#[test]
fn scenarios_that_share_users_still_get_theirs() {
    let scenarios = json!({
        "a": { "executor": "ramping-vus", "startVUs": 4, "gracefulRampDown": "0s", "gracefulStop": "0s",
               "stages": [{ "duration": "4s", "target": 4 }, { "duration": "0s", "target": 0 },
                          { "duration": "0s", "target": 1 },
                          { "duration": "6s", "target": 1 }] },
        "b": { "executor": "constant-vus", "vus": 3, "duration": "4s", "startTime": "4s", "gracefulStop": "0s" },
    });
    let of_a = LoadWish { scenario: Some("a".to_owned()), ..users(6) };
    let (ran, answers) = changed(scenarios, whole(10, 1), vec![(2, of_a)]);
    assert_eq!(answers, [Ok(1)]);
    assert_eq!([3_005, 6_005].map(|at| running(&ran, at)), [6, 9], "six of a, who stay, and three of b");
}

fn one_of_each() -> Value {
    json!({
        "shared": { "executor": "shared-iterations", "vus": 2, "iterations": 400 },
        "each": { "executor": "per-vu-iterations", "vus": 2, "iterations": 400 },
        "some": { "executor": "constant-vus", "vus": 2, "duration": "4s" },
        "more": { "executor": "ramping-vus", "startVUs": 1, "stages": [{ "duration": "1s", "target": 1 }] },
        "open": { "executor": "constant-arrival-rate", "rate": 2, "duration": "4s", "preAllocatedVUs": 2 },
    })
}

#[test]
fn what_cannot_change_is_refused_with_the_reason() {
    let scenarios = one_of_each();
    let of = |name: &str, wish: LoadWish| LoadWish { scenario: Some(name.to_owned()), ..wish };
    let most = |most| LoadWish { most: Some(most), ..wish() };
    let both = LoadWish { rate: rate(1).rate, ..users(1) };
    let given = "does a given number of iterations with the users it has: constant-vus, ramping-vus and arrival rates \
                 can change";
    let cases = [
        (of("shared", users(3)), format!("scenario 'shared' (shared-iterations) {given}")),
        (of("each", users(3)), format!("scenario 'each' (per-vu-iterations) {given}")),
        (of("more", users(3)), "scenario 'more' (ramping-vus) has ended: there is nothing to change".to_owned()),
        (
            of("some", rate(3)),
            "scenario 'some' (constant-vus) has users and plans no rate: change its users".to_owned(),
        ),
        (
            of("open", users(3)),
            "scenario 'open' (constant-arrival-rate) plans starts and has the users that these need: change its rate, \
             or its users at most"
                .to_owned(),
        ),
        (
            of("open", both),
            "scenario 'open' (constant-arrival-rate): found users and a rate, expected one of them".to_owned(),
        ),
        (
            of("open", rate(u64::MAX)),
            "scenario 'open' (constant-arrival-rate): the rate is too high for its duration, expected at most 10 \
             million iterations a second and 30 days"
                .to_owned(),
        ),
        (
            of("some", users(2_000_000)),
            "scenario 'some' (constant-vus): found 2000000 virtual users, expected at most 1000000".to_owned(),
        ),
        (
            users(3),
            "found several scenarios, expected the name of one of 'some' (constant-vus), 'more' (ramping-vus)"
                .to_owned(),
        ),
        (
            of("none", users(3)),
            "there is no scenario 'none', expected any of 'shared' (shared-iterations), 'each' (per-vu-iterations), \
             'some' (constant-vus), 'more' (ramping-vus), 'open' (constant-arrival-rate)"
                .to_owned(),
        ),
        (
            of("some", LoadWish { users: Some(9), ..most(8) }),
            "scenario 'some' (constant-vus): found 9 users, expected at most 8, the limit that was set".to_owned(),
        ),
    ];
    let wishes: Vec<_> = cases.iter().map(|(wish, _)| (2, wish.clone())).collect();
    let (ran, answers) = changed(scenarios, whole(10, 1), wishes);
    for (answer, (_, expected)) in answers.iter().zip(&cases) {
        assert_eq!(answer.as_ref().unwrap_err(), expected);
    }
    assert!(answers.len() == cases.len() && ran.state.load_changes().is_empty());
}

#[test]
fn a_limit_of_users_holds_for_later_changes() {
    let scenarios = json!({
        "some": { "executor": "constant-vus", "vus": 2, "duration": "5s" },
        "open": { "executor": "constant-arrival-rate", "rate": 2, "duration": "5s", "preAllocatedVUs": 2 },
    });
    let of = |wish: LoadWish| LoadWish { scenario: Some("some".to_owned()), ..wish };
    let limit = LoadWish { most: Some(8), ..wish() };
    let wishes = vec![(1, of(limit)), (2, of(users(9))), (3, rate(4))];
    let (ran, answers) = changed(scenarios, whole(10, 1), wishes);
    assert!(matches!(answers.as_slice(), [Ok(0), Err(_), Ok(1)]), "{answers:?}");
    assert_eq!(ran.state.load_changes()[0].to_string(), "scenario 'open': 2 → 4 iterations/s (by REST API)");
}
