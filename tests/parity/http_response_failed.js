// parity: console
// A response that never came.
import http from "k6/http";

export const options = { iterations: 1 };

export default function () {
  const response = http.get("http://127.0.0.1:1/path?a=1");
  const { timings, request, ...rest } = response;
  console.log(Object.keys(request).join(), request.method, request.url);
  console.log(JSON.stringify(rest));
  console.log(Object.values(timings).every((time) => time === 0 || time >= 0));
  for (const work of [() => response.json(), () => response.json("a"), () => response.html().text(), () => response.clickLink(), () => response.submitForm()]) {
    try {
      console.log(JSON.stringify(work()));
    } catch (error) {
      console.log(error.name, error.message);
    }
  }
}
