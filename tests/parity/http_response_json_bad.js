// parity: console
// Documents that are no JSON.
import http from "k6/http";

export const options = { iterations: 1 };

export default function () {
  for (const [path, params] of [["/html", {}], ["/status/204", {}], ["/", {}], ["/json", { responseType: "none" }], ["/json", { responseType: "binary" }]]) {
    const response = http.get(`${__ENV.TARGET}${path}`, params);
    for (const selector of [undefined, "a"]) {
      try {
        console.log(path, typeof (selector ? response.json(selector) : response.json()));
      } catch (error) {
        console.log(path, error.name, error.message);
      }
    }
  }
}
