// parity: console
// Promises that are settled after their group's end.
import { check, group } from "k6";

export const options = { iterations: 1 };

export default async function () {
  let later;
  group("outer", () => {
    later = Promise.resolve().then(() => check(1, { later: true }));
    check(1, { now: true });
  });
  await later;
}
