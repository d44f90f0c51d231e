//! Each cause from facts: what is found, how much it matters, what is said; and what must not be found.

use std::time::Duration;

use onrush_engine::health::{ArrivalCounts, Gap, Health, Occupation, WorkerHealth};
use onrush_engine::judgement::{
    ClosedLoop, IterationLag, MachineFacts, Outputs, Percentile, SaidMeanwhile, Throttling,
};
use onrush_engine::{Cause, Facts, Finding, Judgement, Severity, Verdict, doubts_lately, judge};

/// Two workers on two cores for five seconds; the first as given.
fn health(cpu_share: f64, lag_avg_ms: f64, lag_p99_ms: f64) -> Health {
    let first = WorkerHealth { cpu_share, lag_avg_ms, lag_p99_ms, waited_share: Some(0.04), ..WorkerHealth::default() };
    Health {
        workers: vec![first, WorkerHealth { waited_share: Some(0.0), ..WorkerHealth::default() }],
        process_cores: cpu_share,
        wall: Duration::from_secs(5),
        ..Health::default()
    }
}

/// The same with a loop that stood still for so long, once.
fn stopped(ms: u64, occupation: Occupation) -> Health {
    let mut health = health(0.1, ms as f64 * ms as f64 / 10_000.0, 0.2);
    let worker = &mut health.workers[0];
    worker.longest_gap = Gap { length: Duration::from_millis(ms), began: Duration::from_secs(2), occupation };
    (worker.stalled_share, worker.stalled_avg_ms) = (ms as f64 / 5000.0, worker.lag_avg_ms);
    worker.missed_beats = ms / 10;
    health
}

/// A thousand stamped requests of 100 ms each.
fn machine() -> MachineFacts {
    MachineFacts { allowed_cores: 2, ..MachineFacts::default() }
}

fn on(machine: MachineFacts) -> Facts {
    Facts { machine, ..facts() }
}

fn facts() -> Facts {
    let closed = Some(ClosedLoop { waits: 1000.0, spent_ms: 100_000.0 });
    Facts { requests: 1000, machine: machine(), closed, ..Facts::default() }
}

/// An arrival rate whose starts were late by this much.
fn open(late_share: f64, p95_ms: f64, max_ms: f64) -> Facts {
    let p99_ms = p95_ms.max(max_ms / 2.0);
    let lag = IterationLag { late_share, p95_ms, p99_ms, max_ms, ..lag() };
    Facts { iteration_lag: Some(lag), closed: None, ..facts() }
}

/// A thousand starts on time.
fn lag() -> IterationLag {
    IterationLag { starts: 1000, ..IterationLag::default() }
}

fn causes(judgement: &Judgement) -> Vec<(Cause, Severity)> {
    judgement.findings.iter().map(|finding| (finding.cause, finding.severity)).collect()
}

/// The finding of a cause.
fn found(health: &Health, facts: &Facts, cause: Cause) -> Finding {
    let judgement = judge(health, facts);
    let found = judgement.findings.iter().find(|finding| finding.cause == cause);
    found.unwrap_or_else(|| panic!("no {cause:?} in {judgement:?}")).clone()
}

fn verdict(health: &Health, facts: &Facts) -> Verdict {
    judge(health, facts).verdict
}

#[test]
fn a_run_in_which_nothing_is_found_is_trusted_and_says_for_what() {
    let judgement = judge(
        &health(0.12, 0.1, 0.31),
        &Facts { iteration_lag: Some(IterationLag { p99_ms: 0.2, ..IterationLag::default() }), ..facts() },
    );
    assert_eq!((judgement.verdict, judgement.findings.len()), (Verdict::Trusted, 0));
    let expected = "busiest worker 12 % of a core, event loop 310µs late (p99), 0s at most, starts 200µs late (p99)";
    assert_eq!(judgement.basis, expected);
}

#[test]
fn an_idle_worker_that_was_late_on_a_busy_machine_is_a_note() {
    let expected = "a worker that used 1 % of a core was up to 13.0 ms late (p99); the worker waited for a core 4.0 % \
        of the time. Timings of requests do not include that, because the kernel stamps arrivals; times that the \
        script takes itself may";
    let judgement = judge(&health(0.01, 0.3, 13.0), &facts());
    assert_eq!((judgement.verdict, causes(&judgement)), (Verdict::Trusted, vec![(Cause::RunQueue, Severity::Note)]));
    assert_eq!(judgement.findings[0].text, expected);
    assert_eq!(judge(&health(0.01, 0.3, 9.0), &facts()).findings, []);
    // The same with a rate that was kept, but for some starts.
    let judgement = judge(&health(0.01, 0.3, 13.0), &Facts { closed: facts().closed, ..open(0.02, 2.0, 24.0) });
    assert_eq!(judgement.verdict, Verdict::Trusted);
    let note = &judgement.findings[0].text;
    assert!(note.contains("of the time; one iteration in a hundred started 12.0 ms late or more. Timings"), "{note}");
}

#[test]
fn a_full_worker_is_invalid_and_more_workers_help_only_where_there_are_cores() {
    let busy = found(&health(0.97, 0.1, 2.0), &facts(), Cause::Cpu);
    let expected = "the generator was the limit: its busiest worker used 97 % of a core and was up to 2.0 ms late \
        (p99); the target may be faster than these numbers";
    assert_eq!((busy.severity, busy.text.as_str()), (Severity::Invalid, expected));
    assert_eq!(busy.figure, "a worker used 97 % of a core");
    let advice = |cores| {
        found(&health(0.95, 0.1, 2.0), &on(MachineFacts { allowed_cores: cores, ..machine() }), Cause::Cpu).advice
    };
    assert_eq!(advice(2), "give the generator more cores or a core of its own (taskset), or fewer virtual users");
    assert_eq!(advice(3), "use more workers (--workers): there are 2 for 3 cores");
    assert_eq!(
        [0.899, 0.9].map(|share| verdict(&health(share, 0.1, 2.0), &facts())),
        [Verdict::Trusted, Verdict::Invalid]
    );
    // A schedule that was kept all the same.
    assert_eq!(verdict(&health(0.93, 0.1, 2.0), &open(0.0, 0.5, 3.0)), Verdict::Suspect);
    assert_eq!(verdict(&health(0.93, 0.1, 2.0), &open(0.02, 0.5, 30.0)), Verdict::Invalid);
    let starts = |p99_ms| Facts { closed: None, iteration_lag: Some(IterationLag { p99_ms, ..lag() }), ..facts() };
    let of = |p99_ms| verdict(&health(0.93, 0.1, 2.0), &starts(p99_ms));
    assert_eq!([9.99, 10.0].map(of), [Verdict::Suspect, Verdict::Invalid]);
}

#[test]
fn what_is_wrong_lately_is_told_without_notes_and_however_short_the_time_is() {
    let short = |cpu_share| Health { wall: Duration::from_millis(300), ..health(cpu_share, 0.3, 13.0) };
    let lately = doubts_lately(&short(0.97), &facts());
    assert_eq!(lately, judge(&health(0.97, 0.3, 13.0), &facts()).doubts().cloned().collect::<Vec<_>>());
    assert_eq!(lately.iter().map(|doubt| doubt.cause).collect::<Vec<_>>(), [Cause::Cpu]);
    assert_eq!(doubts_lately(&short(0.01), &facts()), [], "late on a busy machine: a note");
    assert_eq!(doubts_lately(&short(0.97), &Facts { is_smoke: true, ..facts() }), []);
}

#[test]
fn runs_of_milliseconds_and_smoke_runs_are_not_judged() {
    let short = Health { wall: Duration::from_millis(999), ..health(0.97, 5.0, 20.0) };
    let thin = Percentile { metric: String::from("m"), percent: 95.0, samples: 3, is_wanted: true };
    let judgement = judge(&short, &Facts { percentiles: vec![thin], ..facts() });
    assert_eq!((judgement.verdict, judgement.findings), (Verdict::NotJudged, Vec::new()));
    let smoke = Facts { is_smoke: true, without_file: 1, ..facts() };
    assert_eq!(verdict(&health(0.97, 5.0, 20.0), &smoke), Verdict::NotJudged);
    // What does not depend on time is found in short runs, too.
    assert_eq!(verdict(&short, &Facts { without_file: 1, ..facts() }), Verdict::Suspect);
}

#[test]
fn late_starts_have_their_reason_and_no_advice_to_add_cores() {
    let judgement = judge(&health(0.2, 3.0, 45.0), &open(0.4, 41.0, 60.0));
    assert_eq!(judgement.verdict, Verdict::Invalid);
    assert_eq!(causes(&judgement), [(Cause::RunQueue, Severity::Invalid), (Cause::LateStarts, Severity::Invalid)]);
    let late = &judgement.findings[1];
    let expected = "iterations started late, one in twenty by 41.0 ms or more, so the load was not the planned one";
    assert_eq!((late.text.as_str(), late.figure.as_str()), (expected, "400 of 1,000 by 10 ms or more, up to 60ms"));
    let expected = "end what else runs on this machine, or give generator and target cores of their own (taskset); \
        more workers do not help";
    assert_eq!(late.advice, expected);
    // From both sides of each limit.
    let of = |facts: Facts| verdict(&health(0.1, 0.1, 2.0), &facts);
    assert_eq!([9.99, 10.0].map(|p95| of(open(0.05, p95, 60.0))), [Verdict::Trusted, Verdict::Invalid]);
    assert_eq!([0.009, 0.01].map(|share| of(open(share, 1.0, 100.0))), [Verdict::Trusted, Verdict::Suspect]);
    assert_eq!(of(open(0.02, 1.0, 99.0)), Verdict::Trusted);
}

#[test]
fn a_generator_that_stood_still_is_no_longer_on_time() {
    // 1.4 s of 5 s: users of 100 ms lost it whole.
    let judgement = judge(&stopped(1400, Occupation::StoodStill), &facts());
    assert_eq!(
        (judgement.verdict, causes(&judgement)),
        (Verdict::Invalid, vec![(Cause::EventLoopGap, Severity::Invalid)])
    );
    let text = &judgement.findings[0].text;
    assert!(
        text.contains(
            "for 1.4s its thread neither computed nor waited for a core: the process or the machine was stopped"
        ),
        "{text}"
    );
    assert!(text.contains("stood still for 1.4s from 2s on (140 beats missed, 28.0 % of the time in all)"), "{text}");
    assert!(text.contains("users lost about 28 % of their time"), "{text}");
    // Where a rate was planned, less is enough.
    let open = open(0.001, 0.2, 99.0);
    assert_eq!(
        [99, 100].map(|ms| verdict(&stopped(ms, Occupation::StoodStill), &open)),
        [Verdict::Trusted, Verdict::Suspect]
    );
    // Of a minute, 200 ms are nothing in a closed loop; a second is worth knowing.
    let minute = |ms| {
        let mut health = Health { wall: Duration::from_secs(60), ..stopped(ms, Occupation::StoodStill) };
        (health.workers[0].stalled_share, health.workers[0].lag_avg_ms) = (ms as f64 / 60_000.0, 0.0);
        health.workers[0].stalled_avg_ms = 0.0;
        health
    };
    assert_eq!([200, 1000].map(|ms| verdict(&minute(ms), &facts())), [Verdict::Trusted, Verdict::Suspect]);
}

#[test]
fn a_gap_has_the_reason_that_the_threads_times_tell() {
    let text = |occupation| found(&stopped(1400, occupation), &facts(), Cause::EventLoopGap).text;
    assert!(text(Occupation::Computed).contains("a call of the script computed for a long time"));
    let waiting = judge(&stopped(1400, Occupation::WaitedForCore), &facts());
    assert_eq!(causes(&waiting), [(Cause::RunQueue, Severity::Invalid), (Cause::EventLoopGap, Severity::Invalid)]);
}

#[test]
fn timings_without_stamps_hold_the_lateness() {
    let of = |unstamped, late| verdict(&health(0.01, 0.1, late), &Facts { unstamped, ..facts() });
    assert_eq!([50, 51].map(|count| of(count, 20.0)), [Verdict::Trusted, Verdict::Invalid]);
    assert_eq!(
        [0.99, 1.0, 9.99, 10.0].map(|late| of(900, late)),
        [Verdict::Trusted, Verdict::Suspect, Verdict::Suspect, Verdict::Invalid]
    );
    let missing = found(&health(0.01, 0.3, 13.0), &Facts { unstamped: 900, ..facts() }, Cause::StampsMissing);
    let expected = "the kernel did not stamp when 900 of 1,000 answers arrived, so their timings hold the lateness of \
        the event loop, 13ms (p99)";
    assert_eq!(missing.text, expected);
    let nothing_sent = Facts { requests: 0, closed: None, ..facts() };
    assert_eq!(verdict(&health(0.1, 0.1, 20.0), &nothing_sent), Verdict::Trusted);
}

#[test]
fn users_that_lose_a_good_part_of_their_time_spoil_the_rate() {
    // One user that waits a millisecond for each answer loses a third of its time to 0.5 ms of lateness.
    let spent = |spent_ms| Facts { closed: Some(ClosedLoop { waits: 1000.0, spent_ms }), ..facts() };
    let lost = found(&health(0.3, 0.5, 13.0), &spent(1500.0), Cause::EventLoopGap);
    assert!(lost.text.starts_with("users lost about 33 % of their time to a late event loop"), "{}", lost.text);
    // 1000 waits of 0.5 ms are 500 ms: a twentieth of 10 s, and less of more.
    let of = |facts: Facts| verdict(&health(0.1, 0.5, 20.0), &facts);
    assert_eq!([10_100.0, 10_000.0].map(|ms| of(spent(ms))), [Verdict::Trusted, Verdict::Invalid]);
    assert_eq!(of(spent(0.0)), Verdict::Trusted);
    let all = found(&health(0.3, 5.0, 13.0), &spent(100.0), Cause::EventLoopGap);
    assert!(all.text.contains("users lost about 100 % of their time"), "{}", all.text);
}

#[test]
fn the_reason_goes_by_what_the_machine_tells() {
    let first = |health: Health, facts: Facts| {
        let judgement = judge(&health, &Facts { unstamped: 900, ..facts });
        (judgement.findings[0].cause, judgement.findings[0].text.clone())
    };
    let throttling = Throttling { times: 75, time: Some(Duration::from_millis(2500)) };
    let (cause, text) = first(health(0.1, 1.0, 20.0), on(MachineFacts { throttling, ..machine() }));
    assert_eq!(cause, Cause::Throttled);
    assert!(text.contains("the CPU limit of its control group held the process up 75 times, 2.5s in all"), "{text}");
    let (cause, text) = first(health(0.1, 1.0, 20.0), on(MachineFacts { stolen: Some(0.05), ..machine() }));
    assert!(cause == Cause::Steal && text.contains("the hypervisor gave 5 % of the machine's CPU time"), "{text}");
    let (cause, text) = first(Health { process_cores: 1.8, ..health(0.8, 1.0, 20.0) }, facts());
    assert!(cause == Cause::Cpu && text.contains("this process used 1.80 of its 2 cores"), "{text}");
    assert_eq!(first(Health { process_cores: 1.79, ..health(0.8, 1.0, 20.0) }, facts()).0, Cause::RunQueue);
    let waiting = |share| {
        let mut health = health(0.1, 1.0, 20.0);
        health.workers[0].waited_share = share;
        first(health, facts())
    };
    assert!(waiting(Some(0.002)).1.contains("the worker waited for a core 0.2 % of the time"));
    assert_eq!(waiting(Some(0.0019)).0, Cause::EventLoopGap);
    let mut unknown = health(0.1, 1.0, 20.0);
    unknown.workers.iter_mut().for_each(|worker| worker.waited_share = None);
    assert!(first(unknown, facts()).1.contains("the machine was busy with something else"));
}

#[test]
fn a_cpu_limit_and_much_stolen_time_count_of_themselves() {
    let throttled = |ms| {
        let throttling = Throttling { times: 20, time: Some(Duration::from_millis(ms)) };
        verdict(&health(0.1, 0.1, 2.0), &on(MachineFacts { throttling, ..machine() }))
    };
    assert_eq!([49, 50].map(throttled), [Verdict::Trusted, Verdict::Suspect]);
    let stolen = |share| verdict(&health(0.1, 0.1, 2.0), &on(MachineFacts { stolen: Some(share), ..machine() }));
    assert_eq!([0.099, 0.1].map(stolen), [Verdict::Trusted, Verdict::Suspect]);
}

#[test]
fn a_core_shared_with_the_target_is_found_where_both_are_busy() {
    let of = |is_target_here, cpu, waited| {
        let mut health = health(cpu, 0.1, 2.0);
        health.workers[0].waited_share = Some(waited);
        causes(&judge(&health, &Facts { is_target_here, ..facts() }))
    };
    let shared = [(Cause::SharedCore, Severity::Suspect)];
    assert_eq!(of(true, 0.25, 0.2), shared);
    for (here, cpu, waited) in [(false, 0.4, 0.5), (true, 0.24, 0.5), (true, 0.5, 0.19)] {
        assert_eq!(of(here, cpu, waited), [], "{here} {cpu} {waited}");
    }
}

#[test]
fn a_worker_that_is_never_idle_is_the_limit_but_for_a_schedule_that_was_kept() {
    let of = |cpu, waited, facts: Facts| {
        let mut health = health(cpu, 0.1, 2.0);
        health.workers[0].waited_share = Some(waited);
        causes(&judge(&health, &facts))
    };
    assert_eq!(of(0.8, 0.15, facts()), [(Cause::RunQueue, Severity::Invalid)]);
    assert_eq!(of(0.8, 0.14, facts()), []);
    assert_eq!(of(0.8, 0.15, open(0.0, 1.0, 2.0)), []);
}

#[test]
fn a_bias_that_a_referee_found_is_told() {
    let judgement = judge(&health(0.1, 0.1, 2.0), &Facts { bias: Some((1.5, 1.0)), ..facts() });
    assert_eq!(causes(&judgement), [(Cause::GeneratorBias, Severity::Suspect)]);
    assert!(judgement.findings[0].text.contains("a median of 1ms where the users measured 1.5ms"), "{judgement:?}");
}

#[test]
fn what_single_seconds_showed_is_told_of_the_whole_run() {
    let said = |cause, seconds| SaidMeanwhile {
        cause,
        figure: "waited 55.1 % of the time".to_owned(),
        advice: "end what else runs".to_owned(),
        seconds,
        of: 60,
    };
    let judged = |seconds| {
        let meanwhile = vec![said(Cause::RunQueue, seconds)];
        judge(&health(0.1, 0.1, 2.0), &Facts { meanwhile, ..facts() })
    };
    assert_eq!([2, 5].map(|seconds| judged(seconds).verdict), [Verdict::Trusted; 2], "a moment of an hour");
    let judgement = judged(48);
    assert_eq!(causes(&judgement), [(Cause::RunQueue, Severity::Suspect)]);
    assert_eq!(judgement.findings[0].figure, "in 48 of 60 seconds, waited 55.1 % of the time");
    // What the whole run shows is told once.
    let meanwhile = vec![said(Cause::GeneratorBias, 60)];
    let judgement = judge(&health(0.1, 0.1, 2.0), &Facts { bias: Some((1.5, 1.0)), meanwhile, ..facts() });
    assert!(judgement.findings[0].text.contains("a referee beside the workers"), "{judgement:?}");
    assert_eq!(judgement.findings.len(), 1);
}

#[test]
fn dropped_iterations_and_a_rate_that_was_not_reached() {
    let with = |arrivals| Health { arrivals, ..health(0.1, 0.1, 2.0) };
    let dropped = |started, dropped| with(ArrivalCounts { started, dropped, ..ArrivalCounts::default() });
    assert_eq!(verdict(&dropped(1000, 0), &facts()), Verdict::Trusted);
    assert_eq!(verdict(&dropped(9999, 1), &facts()), Verdict::Suspect);
    assert_eq!(verdict(&dropped(95, 5), &facts()), Verdict::Invalid);
    let found_of = |health: &Health, cause| found(health, &facts(), cause);
    assert_eq!(found_of(&dropped(300, 700), Cause::UsersExhausted).figure, "700 of 1,000 planned iterations dropped");
    let behind = |ms| {
        let behind = Duration::from_millis(ms);
        with(ArrivalCounts { started: 100, behind, lasts: Duration::from_secs(5), ..ArrivalCounts::default() })
    };
    assert_eq!([50, 51].map(|ms| verdict(&behind(ms), &facts())), [Verdict::Trusted, Verdict::Invalid]);
    assert_eq!(found_of(&behind(5000), Cause::BelowRate).figure, "50.0 % of the planned rate");
}

#[test]
fn what_the_machine_ran_out_of_is_named() {
    let of = |facts: Facts| judge(&health(0.1, 0.1, 2.0), &facts);
    for (count, severity) in [(1, Severity::Suspect), (9, Severity::Suspect), (10, Severity::Invalid)] {
        let files = of(Facts { without_file: count, ..facts() });
        assert_eq!(causes(&files), [(Cause::FilesExhausted, severity)]);
        let ports = of(Facts { without_port: count, ..facts() });
        assert_eq!(causes(&ports), [(Cause::PortsExhausted, severity)]);
        assert_eq!(ports.findings[0].figure, format!("{count} of 1,000 requests"));
    }
}

#[test]
fn clocks_outputs_and_few_samples() {
    let of = |facts: Facts| causes(&judge(&health(0.1, 0.1, 2.0), &facts));
    let stepped = |ms| of(on(MachineFacts { clock_step_ms: ms, ..machine() }));
    assert_eq!(stepped(-9.9), []);
    assert_eq!([stepped(10.0), stepped(-3_600_000.0)], [[(Cause::ClockStepped, Severity::Suspect)]; 2]);
    let outputs =
        Outputs { lost: vec![String::from("output json lost 5 samples: it could not keep up with the test")] };
    assert_eq!(of(Facts { outputs, ..facts() }), [(Cause::OutputBackpressure, Severity::Suspect)]);
    let thin = |samples, is_wanted| {
        let percentile =
            |percent, samples, is_wanted| Percentile { metric: String::from("m"), percent, samples, is_wanted };
        Facts { percentiles: vec![percentile(90.0, 5, false), percentile(99.0, samples, is_wanted)], ..facts() }
    };
    assert_eq!(of(thin(999, true)), [(Cause::TooFewSamples, Severity::Suspect)]);
    assert_eq!(found(&health(0.1, 0.1, 2.0), &thin(999, true), Cause::TooFewSamples).figure, "p(99) of m from 999");
    assert_eq!(of(thin(999, false)), [(Cause::TooFewSamples, Severity::Note)]);
}

#[test]
fn each_cause_has_a_name_of_its_own() {
    let mut names: Vec<&str> = Cause::ALL.iter().map(|cause| cause.name()).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), Cause::ALL.len());
}
