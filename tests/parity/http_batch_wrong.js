// parity: console
// Batches that are wrong.
import http from "k6/http";

export const options = { iterations: 1 };

export default function () {
  for (const batch of [undefined, null, 5, "text", [null], [5], [[]], [["GET"]], [{}], [{ method: "GET" }], [["GET", "http://127.0.0.1:1/", null, 5]], ["not a url"]]) {
    try {
      const responses = http.batch(batch);
      console.log(JSON.stringify(batch), Object.values(responses).map((r) => `${r.status} ${r.error_code}`).join());
    } catch (error) {
      console.log(JSON.stringify(batch), error.name, error.message);
    }
  }
}
