// Names of checks with odd characters, and the same name in two groups.
import { check, group } from "k6";

export const options = { iterations: 1 };

export default function () {
  check(1, { "quote \" and \\ back": true, "é ☃ 😀": true, "a,b=c&d": true, " space ": true, "tab\t": true });
  group("one", () => check(1, { same: true }));
  group("two", () => check(0, { same: (v) => !!v }));
}
