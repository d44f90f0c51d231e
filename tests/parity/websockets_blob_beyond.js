// parity: console
// A piece behind a blob's end.
import { Blob } from "k6/websockets";

export const options = { iterations: 1 };

export default function () {
  console.log(new Blob(["text"]).slice(100).size);
}
