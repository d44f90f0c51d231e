//! What is said of the generator itself: verdicts, their advice, `--accept-late` in every output, and runs too short to
//! judge.

use serde_json::Value;

use crate::lab::Lab;

/// One user that requests, and then computes for longer in one piece than an event loop may be late. The worker is
/// full, or, on a machine that is busy with something else, held up: a verdict either way.
const LATE: &str = "
import http from 'k6/http'
export const options = { vus: 1, duration: '1500ms' }
const list = Array.from({ length: 200000 }, (_, at) => `number ${at}`)
export default () => {
  http.get(__ENV.TARGET || __ENV.BASE)
  JSON.stringify(list)
}";

fn generator(lab: &Lab, result: &str) -> Value {
    let document: Value = serde_json::from_str(&lab.read(result)).expect("a result");
    document["generator"].clone()
}

#[test]
fn a_verdict_has_advice_and_can_be_overruled_in_every_output() {
    let lab = Lab::with(LATE);
    let refused = lab.run(&["--serve", "--save", "refused"]).code(0).prints("█ GENERATOR").stdout;
    let found = generator(&lab, "refused/result.json");
    let text = |name: &str| found[name].as_str().unwrap_or_else(|| panic!("{name} in {found}")).to_owned();
    let (complaint, advice) = (text("complaint"), text("advice"));
    assert!(complaint.starts_with("the generator was "), "{complaint}");
    assert!(refused.contains(&format!("\n    {complaint}\n    {advice}\n")), "{refused}");
    assert_eq!((&found["saturated"], &found["late_accepted"]), (&true.into(), &false.into()));
    lab.onrush(&["compare", "refused", "refused"])
        .code(2)
        .prints(&format!("is no evidence: {complaint}"))
        .prints(&advice);

    let mark = "late accepted (--accept-late): the generator was ";
    lab.run(&["--serve", "--save", "accepted", "--accept-late"]).code(0).prints(mark);
    let found = generator(&lab, "accepted/result.json");
    assert_eq!((&found["saturated"], &found["late_accepted"]), (&true.into(), &true.into()));
    lab.onrush(&["compare", "accepted", "accepted"]).code(2).prints(mark).prints("1 pair compared");
    lab.onrush(&["compare", "accepted", "accepted", "--format", "markdown"])
        .code(2)
        .prints("late accepted (--accept-late)");
    lab.onrush(&["compare", "accepted", "accepted", "--format", "json"]).code(2).prints(mark);
    lab.onrush(&["compare", "accepted", "accepted", "--format", "junit"]).code(2).prints(mark);
    lab.onrush(&["report", "accepted", "-o", "-"]).code(0).prints(mark);
    lab.onrush(&["compare", "refused", "refused", "--accept-late"]).code(2).prints(mark).prints("1 pair compared");
}

#[test]
fn a_matrix_hands_the_wish_on_and_its_tables_are_marked() {
    let lab = Lab::new();
    lab.file("load.js", LATE);
    let plan = "rounds = 1\nwarm_up = \"0s\"\n[load]\nscript = \"load.js\"\n[[variants]]\nname = \"one\"\nserve = {}\n";
    lab.file("plan.toml", plan);
    let mark = "! ~ in 1 of 1 run: late accepted (--accept-late): the generator was ";
    lab.onrush(&["matrix", "plan.toml", "--accept-late"]).code(0).prints(mark).says(" ~ late accepted");
    for format in ["text", "markdown"] {
        lab.onrush(&["table", "plan.matrix.json", "--format", format]).code(0).prints(mark);
    }
    lab.onrush(&["table", "plan.matrix.json", "--format", "html"]).code(0).prints("late accepted (--accept-late)");
    lab.onrush(&["table", "plan.matrix.json", "--format", "json"]).code(0).prints("\"late_accepted\": 1");
    lab.onrush(&["matrix", "-q", "plan.toml", "-o", "refused.json"])
        .code(0)
        .prints("! in 1 of 1 run the generator was ");
    lab.onrush(&["table", "refused.json", "--accept-late"]).code(0).prints(mark);
    let csv = lab.onrush(&["table", "plan.matrix.json", "--format", "csv"]).code(0).stdout;
    assert!(csv.lines().next().is_some_and(|head| head.contains(",saturated,late_accepted,")), "{csv}");
}

#[test]
fn a_run_of_milliseconds_is_not_judged() {
    let lab = Lab::with(
        "import http from 'k6/http'\nexport const options = { iterations: 3 }\nexport default () => \
         http.get(__ENV.TARGET)",
    );
    let summary = lab.run(&["--serve", "--save", "short"]).code(0).stdout;
    assert!(!summary.contains("GENERATOR"), "{summary}");
    let found = generator(&lab, "short/result.json");
    assert_eq!((&found["too_short"], &found["complaint"]), (&true.into(), &Value::Null));
    for worker in found["workers"].as_array().expect("a list") {
        assert!(
            worker["cpu_share"].as_f64().is_some_and(|share| share <= 1.0),
            "no thread runs on two cores: {worker}"
        );
    }
    let page = lab.onrush(&["report", "short", "-o", "-"]).code(0).stdout;
    assert!(page.contains("not judged: the scenarios ran for less than a second"), "{page}");
    assert!(!page.contains("% of a core"), "{page}");
}
