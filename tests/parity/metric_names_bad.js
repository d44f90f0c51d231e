// parity: console
// Names of metrics that are not allowed.
import { Counter, Gauge, Rate, Trend } from "k6/metrics";

if (__VU === 0) {
  for (const name of ["", "a", "1a", "a b", "a-b", "é", "a".repeat(129), "a".repeat(128), "ok_name", "http_reqs", "checks", undefined, 5, null]) {
    try {
      new Counter(name);
      console.log(String(name).slice(0, 12), "taken");
    } catch (error) {
      console.log(String(name).slice(0, 12), error.name, error.message.slice(0, 120));
    }
  }
  for (const kind of [Counter, Gauge, Rate, Trend]) {
    try {
      kind("without_new");
      console.log("called");
    } catch (error) {
      console.log(error.name, error.message);
    }
  }
}

export default function () {}
