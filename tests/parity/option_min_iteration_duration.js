// parity: console
// The wait belongs to the test's time, not to the iteration's; setup and teardown wait, too.
export const options = { iterations: 2, minIterationDuration: "150ms" };

let start = 0;

export function setup() {}

export default function () {
  console.log(start > 0 && Date.now() - start > 140);
  start = Date.now();
}
