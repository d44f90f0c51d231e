// parity: console
// Libraries put functions of their own in the place of the module's.
import http from "k6/http";

const original = http.request;
http.request = (method, url, ...rest) => {
  console.log("wrapped", method);
  return original.call(http, method, url, ...rest);
};

export const options = { iterations: 1 };

export default function () {
  console.log(http.request("GET", `${__ENV.TARGET}/`).status, http.get(`${__ENV.TARGET}/`).status);
}
