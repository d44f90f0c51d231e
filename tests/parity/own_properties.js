// parity: console
// What responses, addresses and exec show as properties of their own.
import { check } from "k6";
import exec from "k6/execution";
import http from "k6/http";

export const options = { iterations: 1, tags: { a: "b" }, thresholds: { checks: ["rate==1"], "http_reqs{b:1}": ["count==2"] } };

export default function () {
  const response = http.get(`${__ENV.TARGET}/get`);
  console.log(Object.keys(response).join());
  const copy = { ...response };
  check(copy, {
    "a copy has the methods": (c) => c.json("url") === response.url && c.html().text().includes("url"),
    "text has none": () => JSON.parse(JSON.stringify(response)).json === undefined,
  });
  const url = http.url`${__ENV.TARGET}/get?${1}`;
  console.log(Object.keys(url).join(), url.clean() === url.clean_url, url.getURL().name === undefined);
  // k6 has those of exec in any order.
  const names = (object) => Object.keys(object).sort().join();
  console.log(names(exec.vu), names(exec.scenario), names(exec.test));
  exec.vu.tags.b = "1";
  exec.vu.tags = { c: "2" };
  exec.vu.metrics = null;
  console.log(exec.vu.tags.b, exec.vu.tags.c, exec.vu.metrics.tags.b);
  http.batch([`${__ENV.TARGET}/get`, url]);
}
