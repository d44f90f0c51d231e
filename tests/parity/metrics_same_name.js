// One name stands for one metric; another kind under its name is refused.
import { check } from "k6";
import { Counter, Rate } from "k6/metrics";

const first = new Counter("shared_name");
const second = new Counter("shared_name");
let refused = "";
try {
  new Rate("shared_name");
} catch (error) {
  refused = error.name;
}

export const options = { thresholds: { shared_name: ["count==3"] } };

export default function () {
  first.add(1);
  second.add(2);
  check(refused, { "another kind is refused": (name) => name !== "" });
}
