// parity: console
// The environment may be changed by a script, for its user alone.
export const options = { iterations: 1 };

export function setup() {
  __ENV.FROM_SETUP = "1";
}

export default function () {
  __ENV.OWN = "own";
  console.log(__ENV.FROM_SETUP, __ENV.OWN, delete __ENV.OWN, __ENV.OWN, typeof __ENV, __ENV.MISSING);
  __ENV.NUMBER = 5;
  console.log(typeof __ENV.NUMBER);
}
