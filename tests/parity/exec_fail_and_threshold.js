// A threshold that fails beside a test that is marked.
import exec from "k6/execution";

export const options = { iterations: 1, thresholds: { iterations: ["count>5"] } };

export default function () {
  exec.test.fail();
}
