// parity: console
// Digests in every form.
import crypto from "k6/crypto";

export default function () {
  for (const name of ["md4", "md5", "sha1", "sha256", "sha384", "sha512", "sha512_224", "sha512_256", "ripemd160"]) {
    for (const form of ["hex", "base64", "base64url", "base64rawurl"]) {
      console.log(name, form, crypto[name]("text é", form));
    }
    const bytes = crypto[name](new Uint8Array([1, 2, 3]).buffer, "binary");
    console.log(name, bytes instanceof ArrayBuffer, crypto.hexEncode(bytes));
    console.log(crypto.hmac(name.replace("_", "_"), "key", "data", "hex"));
  }
  console.log(crypto.randomBytes(5).byteLength, crypto.hexEncode("é"), crypto.hexEncode(new Uint8Array([1, 255]).buffer));
}
