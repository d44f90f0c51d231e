// An iteration that the end of the test cuts off counts nowhere, and its group has no duration.
import { group, sleep } from "k6";

export const options = {
  thresholds: { iterations: ["count==0"], group_duration: ["max==0"], iteration_duration: ["max==0"] },
  scenarios: { only: { executor: "constant-vus", vus: 1, duration: "1s", gracefulStop: "0s" } },
};

export default function () {
  group("long", () => sleep(30));
}
