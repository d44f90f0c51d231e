// parity: no-wrapper
// parity: stdout
// A handleSummary that takes too long.
import { sleep } from "k6";

export const options = { handleSummaryTimeout: "300ms" };

export default function () {}

export function handleSummary() {
  sleep(5);
  return { stdout: "never\n" };
}
