// parity: console
// A body of a GET, and of request() without a method.
import http from "k6/http";

export const options = { iterations: 1 };

export default function () {
  console.log(http.request("GET", `${__ENV.TARGET}/anything/x`, "body").json("data"));
  console.log(http.request("get", `${__ENV.TARGET}/anything/x`).json("method"));
  console.log(http.request("PURGE", `${__ENV.TARGET}/anything/x`).json("method"));
  console.log(http.del(`${__ENV.TARGET}/delete`, "gone").json("data"));
  console.log(http.options(`${__ENV.TARGET}/anything/x`).status);
  for (const method of ["", null, undefined, "A B"]) {
    try {
      console.log(http.request(method, `${__ENV.TARGET}/anything/x`).status);
    } catch (error) {
      console.log(error.name, error.message);
    }
  }
}
