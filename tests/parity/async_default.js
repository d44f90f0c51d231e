// An asynchronous iteration lasts until it is done; what it rejects with is an exception.
import { check, sleep } from "k6";

export const options = { iterations: 3, thresholds: { iteration_duration: ["max>40"] } };

export default async function () {
  await new Promise((resolve) => setTimeout(resolve, 50));
  check(null, { "after a wait": () => true });
  if (__ITER === 1) throw new Error("rejected");
  sleep(0.01);
  check(null, { "at the end": () => true });
}
