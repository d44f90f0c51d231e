// parity: console
// A field that a script adds to a response.
import http from "k6/http";

export const options = { iterations: 1 };

export default function () {
  const response = http.get(`${__ENV.TARGET}/json`);
  response.mine = "own";
  console.log(response.mine);
}
