// parity: console
// What init code changes of options after their export counts.
import exec from "k6/execution";

export const options = { iterations: 1 };
options.tags = { late: "yes" };

export default function () {
  console.log(exec.vu.tags.late, JSON.stringify(exec.test.options.tags));
}
