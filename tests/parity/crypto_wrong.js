// parity: console
// What the digests refuse.
import crypto from "k6/crypto";

export default function () {
  const works = [
    () => crypto.md5("a", "unknown"), () => crypto.md5("a"), () => crypto.md5(5, "hex"), () => crypto.md5(null, "hex"), () => crypto.md5(undefined, "hex"),
    () => crypto.md5({}, "hex"), () => crypto.md5([1, 2], "hex"), () => crypto.hmac("md5", 5, "d", "hex"), () => crypto.randomBytes(0), () => crypto.randomBytes(-1), () => crypto.randomBytes("x"),
    () => crypto.hexEncode(5), () => crypto.md5(new Uint8Array([1, 2]), "hex"), () => crypto.sha256("a", ""), () => crypto.md5(true, "hex"),
  ];
  for (const work of works) {
    try {
      console.log(JSON.stringify(work()));
    } catch (error) {
      console.log(error.name, error.message);
    }
  }
}
