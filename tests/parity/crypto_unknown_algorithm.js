// parity: console
// Digests that nobody has.
import crypto from "k6/crypto";

export default function () {
  for (const work of [() => crypto.createHash("unknown"), () => crypto.hmac("unknown", "k", "d", "hex")]) {
    try {
      work();
      console.log("made");
    } catch (error) {
      console.log("refused");
    }
  }
}
