// parity: console
// Sleeping in init code.
import { sleep } from "k6";

try {
  sleep(0.01);
  console.log("slept");
} catch (error) {
  console.log(error.name, error.message);
}

export default function () {}
