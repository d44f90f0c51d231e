// parity: console
// A module that exports all of k6/websockets further has all of its names.
import { Blob, WebSocket, all } from "./lib/sockets.js";

export const options = { iterations: 1 };

export default function () {
  console.log(typeof Blob, typeof WebSocket, typeof all.Blob);
}
