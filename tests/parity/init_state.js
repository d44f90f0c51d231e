// parity: console
// Each user has its own variables, which stay.
let count = 0;

export const options = { iterations: 3 };

export default function () {
  count += 1;
  globalThis.kept = (globalThis.kept || 0) + 1;
  console.log(count, globalThis.kept);
}
