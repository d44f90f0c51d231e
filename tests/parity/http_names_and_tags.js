// Tags that override those of the system.
import http from "k6/http";

export const options = { iterations: 1 };

export default function () {
  http.get(`${__ENV.TARGET}/get?a=1`, { tags: { method: "own", status: "own", url: "own", group: "own", scenario: "own", proto: "own" } });
  http.get(`${__ENV.TARGET}/get?a=2`, { tags: { name: "" } });
  http.get(`${__ENV.TARGET}/get?a=3`, { tags: { name: "n", number: 5, truth: true } });
}
