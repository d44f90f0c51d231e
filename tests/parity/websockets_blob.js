// parity: console
// Blobs that come and go.
import { Blob, WebSocket } from "k6/websockets";

export const options = { iterations: 1 };

export default async function () {
  const blob = new Blob(["text é", new Uint8Array([1, 2]), new Blob(["inner"])], { type: "Text/X" });
  console.log(blob.size, blob.type, await blob.text() === "text é\u0001\u0002inner", (await blob.arrayBuffer()).byteLength, (await blob.bytes()).length);
  console.log(await blob.slice(0, 4).text(), blob.slice(2, 3, "x/y").type);
  for (const work of [() => new Blob(5), () => new Blob([5]), () => new Blob("text"), () => new Blob([null])]) {
    try {
      console.log(work().size);
    } catch (error) {
      console.log(error.name, error.message);
    }
  }
  const socket = new WebSocket(`ws${__ENV.TARGET.slice(4)}/ws/echo`);
  socket.onopen = () => socket.send(new Blob(["sent"]));
  socket.onmessage = async (event) => {
    console.log(event.data instanceof Blob, event.data.size, socket.binaryType);
    socket.close();
  };
}
