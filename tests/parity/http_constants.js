// parity: console
// What the module exports.
import http, * as all from "k6/http";

export const options = { iterations: 1 };

export default function () {
  console.log(Object.keys(http).sort().join());
  console.log(Object.keys(all).sort().join());
  for (const name of Object.keys(http).filter((name) => /^[A-Z]+_/.test(name)).sort()) {
    console.log(name, http[name]);
  }
}
