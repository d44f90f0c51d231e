// parity: no-wrapper
// A script's own handleSummary: files, the standard streams, and the data it is given.
import { check } from "k6";

export const options = { iterations: 1 };

export function setup() {
  return [1, 2];
}

export default function () {
  check(1, { fine: true });
}

export function handleSummary(data) {
  return { stdout: "written\n", [__ENV.SUMMARY_FILE]: JSON.stringify(data) };
}
