// parity: console
// Metrics are made in init code alone.
import { Counter } from "k6/metrics";

const counter = new Counter("made_in_init");
if (__VU === 0) {
  try {
    counter.add(1);
  } catch (error) {
    console.log(error.name, error.message);
  }
}

export const options = { iterations: 1 };

export default function () {
  try {
    new Counter("too_late");
  } catch (error) {
    console.log(error.name, error.message);
  }
  console.log(counter.name, JSON.stringify(counter), Object.keys(counter).join());
  try {
    counter.name = "x";
    console.log(counter.name);
  } catch (error) {
    console.log(error.name, error.message);
  }
}
