// parity: console
// What sockets, events and blobs show of themselves; what is detached still works; nothing comes after close().
import { check } from "k6";
import { Blob, WebSocket } from "k6/websockets";

const url = `ws${__ENV.TARGET.slice(4)}/ws/echo`;

export const options = {
  thresholds: { checks: ["rate==1"], ws_msgs_received: ["count==2"], ws_msgs_sent: ["count==4"] },
};

const keys = (value) => Object.keys(value).join();

export default function () {
  const blob = new Blob(["abc", new Uint8Array([1, 2])], { type: "text/plain" });
  console.log(JSON.stringify(blob), keys(blob), blob);
  const { text, slice } = blob;
  text().then((all) => check(all, { "a method alone": (t) => t.length === 5 && slice(1, 2).size === 1 }));

  const socket = new WebSocket(url);
  const { send, close } = socket;
  socket.binaryType = "arraybuffer";
  const shown = JSON.parse(JSON.stringify(socket));
  console.log(keys(shown), keys(socket), shown.readyState, shown.binaryType, shown.bufferedAmount);
  check(socket, {
    "fields are read only": (s) => {
      try {
        s.url = "x";
        return false;
      } catch (error) {
        return error instanceof TypeError;
      }
    },
    "further ones are taken": (s) => (s.mine = 5) === s.mine,
  });
  socket.onopen = (event) => {
    console.log(keys(event));
    send("abcde");
    socket.send(new Uint8Array([1, 2, 3]).buffer);
    console.log(socket.bufferedAmount);
  };
  let received = 0;
  socket.onmessage = (event) => {
    console.log(keys(event), event.type, typeof event.data, event.origin === url, event.target === socket);
    received += 1;
    if (received === 2) {
      socket.send("after");
      close(1000, "bye");
      console.log(socket.readyState);
    }
  };
  socket.addEventListener("ping", () => console.log("never"));
  socket.onclose = (event) => console.log(keys(event), event.code, received, socket.readyState);
}
