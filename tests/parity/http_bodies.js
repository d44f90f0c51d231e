// parity: console
// Bodies of all types.
import http from "k6/http";

export const options = { iterations: 1 };

const buffer = new Uint8Array([104, 105]).buffer;
const bodies = {
  text: "text é",
  empty: "",
  nothing: null,
  missing: undefined,
  object: { b: "2", a: "1 & 2", n: 3, t: true, list: ["x", "y"] },
  nested: { a: {} },
  none: {},
  buffer,
};

export default function () {
  for (const [name, body] of Object.entries(bodies)) {
    const response = http.post(`${__ENV.TARGET}/post`, body);
    const { data, form, headers } = response.json();
    console.log(name, JSON.stringify(data), JSON.stringify(form, Object.keys(form).sort()), headers["Content-Type"], headers["Content-Length"]);
    console.log(name, JSON.stringify(response.request.body));
  }
}
