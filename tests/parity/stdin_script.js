// parity: stdin
// parity: console
// A script that comes by standard input.
export const options = { iterations: 2 };

export default function () {
  console.log(typeof __ENV.TARGET, __ITER);
}
