// A group that ends the test has a duration.
import { group } from "k6";
import exec from "k6/execution";

export const options = { thresholds: { "group_duration{group:::ends}": ["max>=0"], group_duration: ["max>0"] } };

export default function () {
  group("ends", () => exec.test.abort("enough"));
}
