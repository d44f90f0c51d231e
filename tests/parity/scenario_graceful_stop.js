// parity: console
// What runs at the end may finish within the grace, or is interrupted.
import { sleep } from "k6";

const one = { executor: "constant-vus", vus: 1, duration: "1s" };
export const options = {
  scenarios: { patient: { ...one, gracefulStop: "2s" }, strict: { ...one, gracefulStop: "0s", exec: "strict" } },
};

export default function () {
  sleep(1.3);
  console.log("patient ended");
}

export function strict() {
  sleep(1.3);
  console.log("never");
}
