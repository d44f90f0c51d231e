// parity: args --vus 2 --iterations 6
// Flags beat the script's options.
import { check } from "k6";

export const options = { vus: 1, iterations: 1, thresholds: { iterations: ["count==6"] } };

export default function () {
  check(__VU, { "one of two": (vu) => vu === 1 || vu === 2 });
}
