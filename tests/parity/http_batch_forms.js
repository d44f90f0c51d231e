// parity: console
// All forms of a batch, as a list and as an object.
import http from "k6/http";

export const options = { iterations: 1 };

const base = __ENV.TARGET;

export default function () {
  const list = http.batch([
    `${base}/get?n=1`,
    ["POST", `${base}/post`, "body", { headers: { "X-Own": "1" } }],
    ["GET", `${base}/get?n=2`],
    { method: "PUT", url: `${base}/put`, body: "put", params: { tags: { own: "1" } } },
    { url: `${base}/get?n=3` },
    http.url`${base}/get?n=${4}`,
    { method: "GET", url: `${base}/anything/x`, body: "dropped" },
    ["GET", `${base}/get?n=5`, null, { redirects: 0 }],
  ]);
  console.log(Array.isArray(list), list.map((r) => r.status).join(), list[1].json("data"), list[6].json("data"));
  const object = http.batch({ one: `${base}/get`, two: ["DELETE", `${base}/delete`], three: { method: "PATCH", url: `${base}/patch`, body: { a: "b" } } });
  console.log(Object.keys(object).sort().join(), object.three.body.includes("a"));
  console.log(JSON.stringify(http.batch([])), JSON.stringify(http.batch({})));
}
