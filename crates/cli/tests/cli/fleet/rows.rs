//! Rows of test data over agents: each is given once, to any user, and all of them are.

use super::{agent, coordinator, metric, result};
use crate::lab::Lab;

const SCRIPT: &str = "import { SharedArray } from 'k6/data'; import { uniqueRows } from 'onrush/data'
    import { Counter, Trend } from 'k6/metrics'
    const taken = new Trend('taken'), squares = new Counter('squares'), none = new Counter('none')
    export const options = { scenarios: {
      a: { executor: 'per-vu-iterations', vus: 6, iterations: 20 },
      b: { executor: 'shared-iterations', vus: 4, iterations: 40, exec: 'other' } } }
    const rows = uniqueRows('people', new SharedArray('people', () =>
      Array.from({ length: 101 }, (_, number) => ({ number }))))
    function take() {
      const row = rows.take()
      if (row === undefined) return none.add(1)
      taken.add(row.number); squares.add(row.number * row.number)
    }
    export default function () { take() }
    export function other() { take() }
    export function setup() { try { rows.take(); none.add(1000) } catch (_) { none.add(0) } }";

#[test]
fn two_agents_give_each_row_once_and_all_of_them() {
    let lab = Lab::with(SCRIPT);
    let (run, invitation) = coordinator(&lab, "2", &["--save", "fleet"]);
    let agents = ["0", "1"].map(|index| agent(&lab, &invitation, &["--index", index]));
    run.wait().code(0);
    agents.into_iter().for_each(|agent| drop(agent.wait().code(0)));
    lab.run(&["--save", "alone", "--workers", "2"]).code(0);
    // 0 to 100 once each: their count, sum and sum of squares.
    for folder in ["fleet", "alone"] {
        let result = result(&lab, folder);
        let taken = metric(&result, "taken");
        assert_eq!(
            (&taken["count"], &taken["max"], &taken["sum"]),
            (&101.into(), &100.0.into(), &5050.0.into()),
            "{folder}"
        );
        assert_eq!(metric(&result, "squares")["count"], 338_350.0, "{folder}");
        assert_eq!(metric(&result, "none")["count"], 160.0 - 101.0, "{folder}");
    }
}
