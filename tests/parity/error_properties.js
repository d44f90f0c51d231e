// parity: console
// Errors of the modules as values.
import http from "k6/http";

export const options = { iterations: 1 };

export default function () {
  try {
    http.get("http://127.0.0.1:1/", { throw: true });
  } catch (error) {
    console.log(typeof error, error instanceof Error, error.name, error.constructor.name, Object.keys(error).sort().join());
    console.log(typeof error.stack, String(error), typeof error.value);
  }
  try {
    null.x;
  } catch (error) {
    console.log(error instanceof TypeError, error.name, typeof error.stack);
  }
}
