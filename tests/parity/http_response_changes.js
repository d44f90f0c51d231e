// parity: console
// A response is the script's own: fields may be changed and added.
import http from "k6/http";

export const options = { iterations: 1 };

export default function () {
  const response = http.get(`${__ENV.TARGET}/json`);
  response.status = 999;
  response.headers["X-Own"] = "1";
  response.body = null;
  console.log(response.status, response.headers["X-Own"], response.body);
  try {
    response.body = '{"a": 5}';
    console.log(response.json("a"));
  } catch (error) {
    console.log(error.name, error.message);
  }
}
