//! Real outputs of load tools, read: each of `tests/witness` was printed by the tool that its name says, of a load of a
//! second against `onrush serve`. Forms of oha, wrk2 and Locust are written here, after their documentation.

use std::path::Path;

use onrush_report::witness::{ClaimFigure, Claims, LatencyStart, read_claims};

fn of(name: &str) -> Claims {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/witness").join(name);
    read_claims(&path).unwrap_or_else(|problem| panic!("{problem}"))
}

fn of_text(name: &str, text: &str) -> Claims {
    let path = std::env::temp_dir().join(format!("onrush-claims-{}-{name}", std::process::id()));
    std::fs::write(&path, text).expect("written");
    let claims = read_claims(&path);
    std::fs::remove_file(&path).expect("removed");
    claims.unwrap_or_else(|problem| panic!("{problem}"))
}

/// Fails unless the output has these figures, to nine digits.
#[track_caller]
fn has(claims: &Claims, tool: &str, figures: &[(ClaimFigure, f64)]) {
    assert_eq!(claims.tool, tool);
    for (figure, expected) in figures {
        let found = claims.value(*figure);
        let is_near = found.is_some_and(|found| (found - expected).abs() <= expected.abs() * 1e-9);
        assert!(is_near, "{tool}: {} is {found:?}, expected {expected}; all: {claims:?}", figure.name());
    }
}

#[test]
fn of_wrk() {
    let mb = 1024.0 * 1024.0;
    has(
        &of("wrk.txt"),
        "wrk",
        &[
            (ClaimFigure::Requests, 37_014.0),
            (ClaimFigure::Duration, 1.01),
            (ClaimFigure::Received, 5.33 * mb),
            (ClaimFigure::Rate, 36_788.93),
            (ClaimFigure::LatencyMean, 0.73406),
            (ClaimFigure::LatencyMax, 9.18),
            (ClaimFigure::Latency(50.0), 0.043),
            (ClaimFigure::Latency(99.0), 5.61),
        ],
    );
    has(&of("wrk-404.txt"), "wrk", &[(ClaimFigure::Requests, 33_904.0), (ClaimFigure::Statuses(400, 999), 33_904.0)]);
    let text = "Running 10s test @ http://h/\n  1 threads and 8 connections\n  Thread Stats   Avg      Stdev     Max   \
                +/- Stdev\n    Latency     1.20ms    0.59ms  12.26ms   67.00%\n    Req/Sec     1.05k     0.10k    \
                1.33k    70.00%\n  Latency Distribution (HdrHistogram - Recorded Latency)\n 50.000%    1.10ms\n \
                99.990%   12.00ms\n\n  \
                9999 requests in 10.00s, 1.41MB read\n  Socket errors: connect 0, read 1, write 0, timeout 2\n\
                Requests/sec:    999.90\n";
    let claims = of_text("wrk2", text);
    has(
        &claims,
        "wrk2",
        &[(ClaimFigure::Latency(99.99), 12.0), (ClaimFigure::Errors, 3.0), (ClaimFigure::Rate, 999.9)],
    );
    assert_eq!(claims.start, LatencyStart::Planned);
}

#[test]
fn of_ab_and_hey() {
    let ab = [
        (ClaimFigure::Requests, 2000.0),
        (ClaimFigure::Duration, 0.297),
        (ClaimFigure::Rate, 6724.72),
        (ClaimFigure::Failures, 0.0),
        (ClaimFigure::Received, 340_000.0),
        (ClaimFigure::BodiesReceived, 36_000.0),
        (ClaimFigure::LatencyMean, 1.0),
        (ClaimFigure::LatencyMax, 12.0),
        (ClaimFigure::Latency(98.0), 6.0),
        (ClaimFigure::Latency(100.0), 12.0),
    ];
    has(&of("ab.txt"), "ab", &ab);
    let hey = [
        (ClaimFigure::Requests, 11_716.0),
        (ClaimFigure::Duration, 1.02),
        (ClaimFigure::Rate, 11_486.412_1),
        (ClaimFigure::BodiesReceived, 210_888.0),
        (ClaimFigure::LatencyMax, 16.4),
        (ClaimFigure::Latency(99.0), 5.6),
        (ClaimFigure::Statuses(200, 200), 11_716.0),
        (ClaimFigure::Errors, 0.0),
    ];
    has(&of("hey.txt"), "hey", &hey);
    let errors = of("hey-errors.txt");
    has(&errors, "hey", &[(ClaimFigure::Requests, 8.0), (ClaimFigure::Errors, 8.0)]);
    assert_eq!(errors.value(ClaimFigure::LatencyMean), None, "NaN is no claim");
}

#[test]
fn of_vegeta_and_bombardier() {
    for name in ["vegeta.txt", "vegeta.json"] {
        let claims = of(name);
        let figures = [
            (ClaimFigure::Requests, 500.0),
            (ClaimFigure::BodiesReceived, 9000.0),
            (ClaimFigure::Statuses(200, 200), 500.0),
        ];
        has(&claims, "vegeta", &figures);
        for (figure, expected) in
            [(ClaimFigure::SendRate, 500.97), (ClaimFigure::Duration, 0.998_234), (ClaimFigure::Latency(99.0), 4.685)]
        {
            let found = claims.value(figure).expect("printed");
            assert!((found - expected).abs() < 0.001 * expected.max(3.0), "{name}: {figure:?} {found}");
        }
    }
    has(&of("vegeta-errors.txt"), "vegeta", &[(ClaimFigure::Requests, 10.0), (ClaimFigure::Errors, 10.0)]);
    let text = [
        (ClaimFigure::Requests, 34_093.0),
        (ClaimFigure::Rate, 34_220.68),
        (ClaimFigure::LatencyMean, 0.11566),
        (ClaimFigure::Latency(99.0), 2.38),
        (ClaimFigure::Statuses(200, 299), 34_093.0),
        (ClaimFigure::Errors, 0.0),
    ];
    has(&of("bombardier.txt"), "bombardier", &text);
    let json = [
        (ClaimFigure::Requests, 38_907.0),
        (ClaimFigure::Received, 5_874_957.0),
        (ClaimFigure::Sent, 2_451_141.0),
        (ClaimFigure::Duration, 1.000_098_163),
        (ClaimFigure::Latency(95.0), 0.106),
        (ClaimFigure::LatencyMax, 9.413),
    ];
    has(&of("bombardier.json"), "bombardier", &json);
}

#[test]
fn of_k6_and_h2load() {
    let figures = [
        (ClaimFigure::Requests, 7806.0),
        (ClaimFigure::Rate, 7_763.005_185_767_023),
        (ClaimFigure::Received, 1_178_706.0),
        (ClaimFigure::Sent, 554_226.0),
        (ClaimFigure::Failures, 0.0),
        (ClaimFigure::Latency(50.0), 0.133_363),
        (ClaimFigure::LatencyMax, 20.514_284),
    ];
    has(&of("k6.json"), "k6", &figures);
    let data = [
        (ClaimFigure::Requests, 6953.0),
        (ClaimFigure::Duration, 1.005_600_308),
        (ClaimFigure::Latency(95.0), 3.207_277_2),
    ];
    has(&of("k6-data.json"), "k6", &data);
    let figures = [
        (ClaimFigure::Requests, 2000.0),
        (ClaimFigure::Duration, 0.082_04),
        (ClaimFigure::Rate, 24_378.35),
        (ClaimFigure::Received, 90_488.0),
        (ClaimFigure::BodiesReceived, 36_000.0),
        (ClaimFigure::Statuses(200, 299), 2000.0),
        (ClaimFigure::LatencyMin, 0.027),
        (ClaimFigure::LatencyMax, 7.97),
    ];
    has(&of("h2load.txt"), "h2load", &figures);
}

#[test]
fn of_oha_and_locust() {
    let oha = r#"{"summary":{"successRate":1.0,"total":1.5,"slowest":0.02,"fastest":0.001,"average":0.002,
        "requestsPerSec":2000.0,"totalData":54000,"sizePerRequest":18,"sizePerSec":36000.0},
        "latencyPercentiles":{"p50":0.0015,"p99.9":0.019},"statusCodeDistribution":{"200":2990,"500":10},
        "errorDistribution":{"connection refused":7}}"#;
    let figures = [
        (ClaimFigure::Requests, 3007.0),
        (ClaimFigure::Duration, 1.5),
        (ClaimFigure::BodiesReceived, 54_000.0),
        (ClaimFigure::Latency(99.9), 19.0),
        (ClaimFigure::Statuses(500, 500), 10.0),
        (ClaimFigure::Errors, 7.0),
    ];
    has(&of_text("oha", oha), "oha", &figures);
    let locust = "Type,Name,Request Count,Failure Count,Median Response Time,Average Response Time,Min Response \
                  Time,Max Response Time,Average Content Size,Requests/s,Failures/s,50%,66%,99%,100%\n\
                  GET,\"/a,b\",60,1,5,5.4,3.1,210.2,18.0,6.0,0.1,5,6,120,210\n\
                  ,Aggregated,100,2,5,6.25,3.1,310.4,18.0,10.01,0.2,5,6,130,310\n";
    let claims = of_text("locust", locust);
    let figures = [
        (ClaimFigure::Requests, 100.0),
        (ClaimFigure::Failures, 2.0),
        (ClaimFigure::Rate, 10.01),
        (ClaimFigure::LatencyMean, 6.25),
        (ClaimFigure::Latency(99.0), 130.0),
    ];
    has(&claims, "Locust", &figures);
    let p99 = claims.figures.iter().find(|claim| claim.figure == ClaimFigure::Latency(99.0)).expect("printed");
    assert_eq!(p99.rounding, 5.0, "two digits are kept from 100 ms on");
}

#[test]
fn a_missing_file_is_named() {
    let problem = read_claims(Path::new("/no/such/file")).expect_err("refused");
    assert!(problem.starts_with("cannot read /no/such/file: "), "{problem}");
}
