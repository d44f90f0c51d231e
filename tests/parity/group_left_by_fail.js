// A group that fail() leaves has its duration.
import { fail, group } from "k6";

export const options = { iterations: 2, thresholds: { group_duration: ["max>=0"] } };

export default function () {
  group("failing", () => fail("because"));
}
