//! The line protocol of InfluxDB 1 and 2.

use crate::http::{Manner, Receiver};
use crate::run::Run;

#[test]
fn each_sample_is_a_line_as_k6_writes_it() {
    let receiver = Receiver::start(Manner::Answers(204));
    let run = Run::start(&format!("influxdb=http://u:p%20w@{}/my%20db", receiver.address), &[]);
    run.add_all_kinds();
    assert_eq!(run.finish(), (vec![], vec![]));
    let got = receiver.got();
    let lines: Vec<&str> = got.iter().map(|(head, _)| head.lines().next().unwrap()).collect();
    let expected = [
        "POST /query?db=&q=CREATE+DATABASE+%22my+db%22 HTTP/1.1",
        "POST /write?consistency=&db=my+db&precision=ns&rp= HTTP/1.1",
    ];
    assert_eq!(lines, expected);
    assert!(got.iter().all(|(head, _)| head.contains("\r\nAuthorization: Basic dTpwIHc=\r\n")));
    let body = String::from_utf8(got[1].1.clone()).unwrap();
    assert_eq!(body.lines().count(), 16);
    for line in [
        "http_reqs,status=200 url=\"/a b\",value=1 1795440196000000000",
        "http_req_duration url=\"/a b\",value=2.5 1795440198000000000",
        "vus value=4 1795440198000000000",
        "checks,check=is\\,\\ \"200\" value=0 1795440198000000000",
        "data_sent value=20.5 1795440197000000000",
    ] {
        assert!(body.lines().any(|found| found == line), "{line} in\n{body}");
    }
}

#[test]
fn tags_become_fields_of_the_kind_asked_for_and_moments_are_as_fine_as_asked_for() {
    let receiver = Receiver::start(Manner::Answers(204));
    let output = format!("influxdb=http://{}/d?precision=s&tagsAsFields=a,n:int,x:float", receiver.address);
    let run = Run::start(&output, &[("K6_INFLUXDB_PRECISION", "ms"), ("K6_INFLUXDB_RETENTION", "week")]);
    let tags = [("a", "q\"\\"), ("n", "12"), ("x", "1.5"), ("url", "u")];
    run.add(metrics::builtin::ITERATIONS, &tags, &[1.0]);
    assert_eq!(run.finish(), (vec![], vec![]));
    let (head, body) = receiver.got().swap_remove(1);
    assert!(head.starts_with("POST /write?consistency=&db=d&precision=s&rp=week "), "{head}");
    let expected = "iterations,url=u a=\"q\\\"\\\\\",n=12i,value=1,x=1.5 1795440196\n";
    assert_eq!(String::from_utf8(body).unwrap(), expected);
}

#[test]
fn a_bucket_of_influxdb_2_gets_the_same_lines() {
    let receiver = Receiver::start(Manner::Answers(204));
    let env = [("K6_INFLUXDB_ORGANIZATION", "o"), ("K6_INFLUXDB_BUCKET", "b"), ("K6_INFLUXDB_TOKEN", "secret")];
    let run = Run::start(&format!("xk6-influxdb=http://{}", receiver.address), &env);
    run.add(metrics::builtin::HTTP_REQS, &[("url", "/a b"), ("status", "200")], &[1.0]);
    assert_eq!(run.finish(), (vec![], vec![]));
    let got = receiver.got();
    assert_eq!(got.len(), 1, "no database is made");
    let (head, body) = &got[0];
    assert!(head.starts_with("POST /api/v2/write?bucket=b&org=o&precision=ns HTTP/1.1"), "{head}");
    assert!(head.contains("\r\nAuthorization: Token secret\r\n"), "{head}");
    let expected = "http_reqs,status=200 url=\"/a b\",value=1 1795440196000000000\n";
    assert_eq!(String::from_utf8(body.clone()).unwrap(), expected);
}
