// parity: console
// Sockets that do not open.
import ws from "k6/ws";

export const options = { iterations: 1 };

export default function () {
  const base = `ws${__ENV.TARGET.slice(4)}`;
  for (const url of ["ws://127.0.0.1:1/", `${base}/status/404`, `${base}/`, "http://127.0.0.1:1/", "not a url", ""]) {
    try {
      const response = ws.connect(url, null, (socket) => {
        socket.on("error", (error) => console.log("error event", error.error()));
        socket.on("open", () => console.log("open"));
      });
      console.log(url.replace(base, ""), response && response.status, response && response.error);
    } catch (error) {
      console.log(url.replace(base, ""), error.name, error.message);
    }
  }
}
