// parity: console
// Digests piece by piece.
import { createHash, createHMAC } from "k6/crypto";

export default function () {
  const hasher = createHash("sha256");
  hasher.update("one ");
  console.log(hasher.digest("hex"), hasher.digest("base64"));
  hasher.update("two");
  console.log(hasher.digest("hex"));
  const mac = createHMAC("sha1", new Uint8Array([1, 2]).buffer);
  mac.update("data");
  console.log(mac.digest("hex"), mac.update("more"), mac.digest("hex"));
  console.log(Object.keys(hasher).sort().join(), typeof hasher.update);
}
