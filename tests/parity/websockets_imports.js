// parity: console
// A module by name, whole, and by require: all names are there.
import sockets, { WebSocket } from "k6/websockets";
import * as all from "k6/websockets";

const required = require("k6/websockets");

export default function () {
  console.log(typeof WebSocket, typeof sockets.Blob, typeof all.Blob, typeof required.Blob);
  const { Blob } = all;
  new Blob(["text"]).text().then((text) => console.log(text, "WebSocket" in all, Object.keys(sockets).sort().join()));
}
