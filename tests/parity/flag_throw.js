// parity: args --throw
// parity: console
// A failed request throws.
import http from "k6/http";

export const options = { iterations: 1 };

export default function () {
  try {
    http.get("http://127.0.0.1:1/");
  } catch (error) {
    console.log(error.name, error.message, String(error), error instanceof Error, error instanceof GoError);
  }
  http.get("http://127.0.0.1:1/");
}
