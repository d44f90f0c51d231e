// parity: console
// A name that nobody has.
import http from "k6/http";

export const options = { iterations: 1 };

export default function () {
  const response = http.get("http://nobody.invalid/");
  console.log(response.status, response.error_code);
}
