// parity: console
// Objects of the modules, printed.
import { check } from "k6";
import { SharedArray } from "k6/data";
import exec from "k6/execution";
import http from "k6/http";
import { Counter } from "k6/metrics";

const shared = new SharedArray("s", () => [1, { a: 2 }]);
const counter = new Counter("counted");

export const options = { iterations: 1 };

export default function () {
  console.log(shared);
  console.log(counter);
  console.log(http.expectedStatuses(200));
  console.log({ scenario: exec.vu.tags.scenario });
  console.log(typeof check, `${check}`.length > 0);
  console.log(http.file("x", "n", "t/t"));
}
