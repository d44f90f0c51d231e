// Custom metrics: definition, what counts as a value, tags, and the sums they come to. Runs under k6 as well.
import { check } from "k6";
import metrics, { Counter, Gauge, Rate, Trend } from "k6/metrics";
import { messageOf } from "../../../../tests/lib/assert.js";

const counter = new Counter("my_counter");
const gauge = new Gauge("my_gauge");
const rate = new Rate("my_rate");
const trend = new Trend("my_trend", true);
const same = new metrics.Counter("my_counter");
const inInit = messageOf(() => counter.add(1));
const names = ["a b", "a", "", "1abc", "a".repeat(130), "é_"].map((name) => messageOf(() => new Counter(name)));
const conflicts = [
  messageOf(() => new Trend("my_counter")),
  messageOf(() => new Trend("my_trend")),
  messageOf(() => new Counter("http_req_duration")),
];
const builtin = messageOf(() => new Trend("http_req_duration", true));

export const options = {
  thresholds: {
    checks: ["rate==1"],
    my_counter: ["count==21"],
    "my_counter{kind:odd}": ["count==4"],
    "my_counter{kind:2}": ["count==5"],
    my_gauge: ["value==3"],
    my_rate: ["rate==0.75"],
    my_trend: ["min==-1", "max==10", "avg==4"],
  },
};

export default function () {
  const f = counter.add;
  check(null, {
    "add in init throws": () => inInit.includes("init context"),
    "bad names throw": () => names.every((message) => message.includes("metric name")),
    "conflicts throw": () => conflicts.every((message) => message.includes("already exists")),
    "the same definition of a built-in metric is that metric": () => builtin === "",
    "has its name": () => counter.name === "my_counter" && Object.keys(counter).join() === "name,add",
    "the name stays": () => messageOf(() => { counter.name = "other"; }) !== "" && counter.name === "my_counter",
    "JSON": () => JSON.stringify(trend) === '{"name":"my_trend"}',
    "adds": () => counter.add(1) === true && counter.add(2.5) === true,
    "adds what reads as a number": () => counter.add("5") && counter.add(true) && counter.add(false) && counter.add([1]),
    "the same metric under two objects": () => same.add(1.5),
    "add can be taken off": () => f(0),
    "tags": () => counter.add(4, { kind: "odd", flag: true }) && counter.add(5, { kind: 2 }) && counter.add(0, null),
    "bad tags throw": () =>
      [{}, null, undefined, [1]].every((value) => messageOf(() => counter.add(1, { bad: value })).includes("'bad'")),
    "what is no number is not counted": () =>
      [NaN, "abc", null, undefined, {}].every((value) => counter.add(value) === false) && counter.add() === false,
    "a gauge keeps the last": () => gauge.add(7) && gauge.add(3),
    "a rate counts what is true": () => rate.add(true) && rate.add(0) && rate.add(5) && rate.add(-1),
    "a trend takes any number": () => trend.add(-1) && trend.add(3) && trend.add(10),
    "defining late throws": () => messageOf(() => new Counter("late")).includes("init context"),
  });
}
