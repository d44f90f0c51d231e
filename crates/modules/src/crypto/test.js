// Every hash function in every output, HMAC, incremental use, random bytes, and what is refused. Runs under k6 as well.
import { check } from "k6";
import crypto, { createHash, createHMAC, hexEncode, hmac, md5, randomBytes, sha256 } from "k6/crypto";
import { messageOf } from "../../../../tests/lib/assert.js";

export const options = { thresholds: { checks: ["rate==1"] } };

// Digests of "abc".
const known = {
  md4: "a448017aaf21d8525fc10ae87aa6729d",
  md5: "900150983cd24fb0d6963f7d28e17f72",
  sha1: "a9993e364706816aba3e25717850c26c9cd0d89d",
  sha256: "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
  sha384: "cb00753f45a35e8bb5a03d699ac65007272c32ab0eded1631a8b605a43ff5bed8086072ba1e7cc2358baeca134c825a7",
  sha512:
    "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a" +
    "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f",
  sha512_224: "4634270f707b6a54daae7530460842e20e37ed265ceee9a43e8924aa",
  sha512_256: "53048e2681941ef99b2e29b76b4c7dabe4c2d0c634fc6d46e0e2f13107e7af23",
  ripemd160: "8eb208f7e05d987a9b044a8e98c6b087f15a0bfc",
};

export default function () {
  for (const name in known) {
    check(name, {
      "hashes text": () => crypto[name]("abc", "hex") === known[name],
      "hashes a view": () => crypto[name](new Uint8Array([97, 98, 99]), "hex") === known[name],
      "hashes a buffer": () => crypto[name](new Uint8Array([97, 98, 99]).buffer, "hex") === known[name],
      "gives bytes": () => hexEncode(crypto[name]("abc", "binary")) === known[name],
      "hashes in pieces": () => {
        const hasher = createHash(name);
        hasher.update("a");
        hasher.digest("hex");
        hasher.update(new Uint8Array([98, 99]).buffer);
        return hasher.digest("hex") === known[name] && hasher.digest("hex") === known[name];
      },
      "signs": () => hmac(name, "key", "abc", "binary").byteLength * 2 === known[name].length,
    });
  }
  check(null, {
    "base64": () => md5("hello?", "base64") === "OAlxihCg9ZvPbUk5wQ/SjQ==",
    "base64url": () => sha256("hello?", "base64url") === "tFz2Rmny-NpsbMLbAynsGjfQZ7mrdkDAKc_UTrS_koo=",
    "base64rawurl": () => sha256("hello?", "base64rawurl") === "tFz2Rmny-NpsbMLbAynsGjfQZ7mrdkDAKc_UTrS_koo",
    "hmac": () =>
      hmac("sha256", "key", "data", "hex") === "5031fe3d989c6d1537a013fa6e739da23463fdaec3b70137d828e36ace221bd0",
    "hmac with a binary key": () => {
      const key = new Uint8Array([107, 101, 121]).buffer;
      return hmac("md5", key, "data", "base64") === "nVxz74VZTTTsRDi3yX5R2A==";
    },
    "hmac in pieces": () => {
      const mac = createHMAC("sha256", "key");
      mac.update("da");
      mac.update("ta");
      return mac.digest("hex") === hmac("sha256", "key", "data", "hex");
    },
    "update returns nothing": () => createHash("md5").update("x") === undefined,
    "text is UTF-8": () => md5("é", "hex") === md5(new Uint8Array([0xc3, 0xa9]), "hex"),
    "hexEncode": () => hexEncode("az") === "617a" && hexEncode(new Uint8Array([255, 0]).buffer) === "ff00",
    "random bytes have the size": () => randomBytes(16).byteLength === 16,
    "random bytes differ": () => hexEncode(randomBytes(16)) !== hexEncode(randomBytes(16)),
    "an empty request is refused": () => messageOf(() => randomBytes(0)).includes("invalid size"),
    "a negative request is refused": () => messageOf(() => randomBytes(-1)).includes("invalid size"),
    "an unknown algorithm is refused": () =>
      messageOf(() => hmac("none", "key", "data", "hex")).includes("invalid algorithm: none"),
    "an unknown output is refused": () => messageOf(() => md5("x", "none")).includes("invalid output encoding: none"),
    "an output is required": () => messageOf(() => md5("x")).includes("invalid output encoding"),
    "other values are refused": () =>
      [5, {}, [1], null, undefined].every((value) => messageOf(() => md5(value, "hex")).includes("invalid type")),
    "a key is required": () => messageOf(() => hmac("md5", undefined, "x", "hex")).includes("invalid type"),
  });
}
