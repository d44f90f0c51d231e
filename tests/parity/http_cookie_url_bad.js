// parity: console
// A jar and an address that is none.
import http from "k6/http";

export const options = { iterations: 1 };

export default function () {
  try {
    http.cookieJar().set("::", "a", "b");
  } catch (error) {
    console.log("refused");
  }
}
