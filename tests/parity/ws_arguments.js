// parity: console
// Arguments that are wrong.
import ws from "k6/ws";

export const options = { iterations: 1 };

export default function () {
  const url = `ws${__ENV.TARGET.slice(4)}/ws/echo`;
  for (const args of [[], [url], [url, {}], [url, {}, 5], [url, 5, (s) => s.close()], [url, { unknown: 1 }, (s) => s.close()], [url, { headers: 5 }, (s) => s.close()], [url, { compression: "gzip" }, (s) => s.close()], [url, {}, (s) => s.close(), 4]]) {
    try {
      console.log(ws.connect(...args).status);
    } catch (error) {
      console.log(error.name, error.message);
    }
  }
}
