// The global `crypto`: random values, and keys, signatures, ciphers and digests of `crypto.subtle`. Runs under k6 as well.
import { check } from "k6";
import { b64decode, b64encode } from "k6/encoding";

export const options = { thresholds: { checks: ["rate==1"] } };

const { subtle } = crypto;
const text = new Uint8Array([1, 2, 3, 4, 5]);
const hex = (buffer) => Array.from(new Uint8Array(buffer), (byte) => byte.toString(16).padStart(2, "0")).join("");
const bytes = (digits) => new Uint8Array(digits.match(/../g).map((pair) => parseInt(pair, 16)));
const same = (one, other) => hex(one) === hex(other);

/** The name of what a promise is rejected with. */
async function refused(call) {
  try {
    await call();
    return "";
  } catch (error) {
    return error.name;
  }
}

function randomValues() {
  const filled = new Uint8Array(64);
  const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
  check(null, {
    "an array is filled": () => crypto.getRandomValues(filled) === filled && new Set(filled).size > 20,
    "an identifier": () => uuid.test(crypto.randomUUID()) && crypto.randomUUID() !== crypto.randomUUID(),
    "members": () => Object.keys(subtle).length === 12,
  });
}

async function digests() {
  const abc = new Uint8Array([97, 98, 99]);
  const sha1 = await subtle.digest("SHA-1", abc);
  const sha256 = await subtle.digest({ name: "sha-256" }, abc.buffer);
  const lengths = [(await subtle.digest("SHA-384", abc)).byteLength, (await subtle.digest("SHA-512", abc)).byteLength];
  const unknown = await refused(() => subtle.digest("MD5", abc));
  check(null, {
    "SHA-1": () => hex(sha1) === "a9993e364706816aba3e25717850c26c9cd0d89d",
    "SHA-256": () => hex(sha256) === "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
    "lengths": () => lengths.join() === "48,64",
    "an unknown one": () => unknown === "NotSupportedError",
  });
}

async function ciphers() {
  const modes = {
    "AES-CBC": { name: "AES-CBC", iv: new Uint8Array(16) },
    "AES-CTR": { name: "AES-CTR", counter: new Uint8Array(16), length: 64 },
    "AES-GCM": { name: "AES-GCM", iv: new Uint8Array(12), additionalData: text },
  };
  for (const [name, mode] of Object.entries(modes)) {
    for (const length of [128, 192, 256]) {
      const key = await subtle.generateKey({ name, length }, true, ["encrypt", "decrypt"]);
      const again = await subtle.importKey("jwk", await subtle.exportKey("jwk", key), name, true, ["decrypt"]);
      const clear = await subtle.decrypt(mode, again, await subtle.encrypt(mode, key, text));
      check(key, {
        [`${name} ${length}`]: () => same(clear, text),
        "what a key says": (k) =>
          k.type === "secret" && k.extractable && k.algorithm.name === name && k.algorithm.length === length &&
          k.usages.join() === "encrypt,decrypt",
      });
    }
  }
  const zeros = await subtle.importKey("raw", new Uint8Array(32), "AES-GCM", true, ["encrypt", "decrypt"]);
  const gcm = { name: "AES-GCM", iv: new Uint8Array(12) };
  const tag = await subtle.encrypt(gcm, zeros, new Uint8Array(0));
  const short = await subtle.encrypt({ ...gcm, tagLength: 96 }, zeros, text);
  const clear = await subtle.decrypt({ ...gcm, tagLength: 96 }, zeros, short);
  const errors = [
    await refused(() => subtle.decrypt(gcm, zeros, new Uint8Array(40))),
    await refused(() => subtle.encrypt({ name: "AES-GCM", iv: new Uint8Array(16) }, zeros, text)),
    await refused(() => subtle.encrypt({ ...gcm, tagLength: 7 }, zeros, text)),
    await refused(() => subtle.encrypt({ name: "AES-CBC", iv: new Uint8Array(16) }, zeros, text)),
    await refused(() => subtle.generateKey({ name: "AES-GCM", length: 100 }, true, ["encrypt"])),
    await refused(() => subtle.generateKey({ name: "AES-GCM", length: 128 }, true, ["sign"])),
    await refused(() => subtle.importKey("raw", new Uint8Array(3), "AES-GCM", true, ["encrypt"])),
  ];
  check(null, {
    "a known tag": () => hex(tag) === "530f8afbc74536b9a963b4f1c4cb738b",
    "a short tag": () => short.byteLength === 17 && same(clear, text),
    "what is refused": () => errors.join() ===
      "OperationError,NotSupportedError,OperationError,InvalidAccessError,OperationError,SyntaxError,DataError",
  });
}

async function codes() {
  const key = await subtle.importKey("raw", bytes("4a656665"), { name: "HMAC", hash: "SHA-256" }, false, ["sign", "verify"]);
  const data = bytes("7768617420646f2079612077616e7420666f72206e6f7468696e673f");
  const code = await subtle.sign("HMAC", key, data);
  const right = await subtle.verify({ name: "HMAC" }, key, code, data);
  const wrong = await subtle.verify("HMAC", key, code, text);
  const made = await subtle.generateKey({ name: "HMAC", hash: "SHA-512" }, true, ["sign"]);
  const jwk = await subtle.exportKey("jwk", made);
  const secret = await refused(() => subtle.exportKey("raw", key));
  check(null, {
    "HMAC of RFC 4231": () => hex(code) === "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
    "verified": () => right === true && wrong === false,
    "length of a block": () => made.algorithm.length === 1024 && jwk.alg === "HS512" && jwk.kty === "oct",
    "not extractable": () => secret === "InvalidAccessError",
  });
}

async function curves() {
  for (const [namedCurve, size] of [["P-256", 32], ["P-384", 48], ["P-521", 66]]) {
    const signing = { name: "ECDSA", hash: "SHA-256" };
    const pair = await subtle.generateKey({ name: "ECDSA", namedCurve }, true, ["sign", "verify"]);
    const signature = await subtle.sign(signing, pair.privateKey, text);
    const moved = await subtle.importKey(
      "spki", await subtle.exportKey("spki", pair.publicKey), { name: "ECDSA", namedCurve }, true, ["verify"]);
    const right = await subtle.verify(signing, moved, signature, text);
    const jwk = await subtle.exportKey("jwk", pair.privateKey);
    const again = await subtle.importKey("jwk", jwk, { name: "ECDSA", namedCurve }, true, ["sign"]);
    const wrong = await subtle.verify(signing, pair.publicKey, await subtle.sign(signing, again, hexless), text);
    const one = await subtle.generateKey({ name: "ECDH", namedCurve }, true, ["deriveBits", "deriveKey"]);
    const other = await subtle.generateKey({ name: "ECDH", namedCurve }, true, ["deriveBits"]);
    const bits = await subtle.deriveBits({ name: "ECDH", public: other.publicKey }, one.privateKey, 128);
    const same_bits = await subtle.deriveBits({ name: "ECDH", public: one.publicKey }, other.privateKey, 128);
    check(pair, {
      [`ECDSA ${namedCurve}`]: () => right && !wrong && signature.byteLength === 2 * size,
      [`ECDH ${namedCurve}`]: () => bits.byteLength === 16 && same(bits, same_bits),
      "usages of a pair": (p) => p.privateKey.usages.join() === "sign" && p.publicKey.usages.join() === "verify",
      "a private JSON Web Key": () => jwk.crv === namedCurve && b64decode(jwk.d, "rawurl").byteLength === size,
    });
  }
}

const hexless = new Uint8Array([9, 9]);

async function derived() {
  const base = await subtle.importKey("raw", bytes("70617373776f7264"), "PBKDF2", false, ["deriveBits", "deriveKey"]);
  const how = { name: "PBKDF2", hash: "SHA-1", salt: bytes("73616c74"), iterations: 2 };
  const bits = await subtle.deriveBits(how, base, 128);
  const key = await subtle.deriveKey(how, base, { name: "AES-CBC", length: 128 }, true, ["encrypt"]);
  const raw = await subtle.exportKey("raw", key);
  const errors = [
    await refused(() => subtle.deriveBits({ ...how, iterations: 0 }, base, 160)),
    await refused(() => subtle.deriveBits(how, base, 9)),
    await refused(() => subtle.importKey("raw", text, "PBKDF2", true, ["deriveBits"])),
    await refused(() => subtle.importKey("raw", text, "HKDF", false, ["deriveBits"])),
    await refused(() => subtle.generateKey("Ed25519", true, ["sign"])),
    await refused(() => subtle.wrapKey("raw", key, key, { name: "AES-GCM" })),
  ];
  check(null, {
    "PBKDF2 of RFC 6070": () => hex(bits) === "ea6c014dc72d6f8ccd1ed92ace1d41f0",
    "a derived key": () => same(raw, new Uint8Array(bits).subarray(0, 16)),
    "what is refused": () => errors.join() ===
      "OperationError,OperationError,SyntaxError,NotSupportedError,NotSupportedError,GoError",
  });
}

async function rsa() {
  const of = (name) => ({ name, modulusLength: 1024, publicExponent: new Uint8Array([1, 0, 1]), hash: "SHA-256" });
  for (const name of ["RSASSA-PKCS1-v1_5", "RSA-PSS"]) {
    const pair = await subtle.generateKey(of(name), true, ["sign", "verify"]);
    const how = { name, saltLength: 32 };
    const pkcs8 = await subtle.exportKey("pkcs8", pair.privateKey);
    const again = await subtle.importKey("pkcs8", pkcs8, { name, hash: "SHA-256" }, true, ["sign"]);
    const signature = await subtle.sign(how, again, text);
    const right = await subtle.verify(how, pair.publicKey, signature, text);
    check(pair, { [name]: (p) => right && signature.byteLength === 128 && p.publicKey.algorithm.modulusLength === 1024 });
  }
  const pair = await subtle.generateKey(of("RSA-OAEP"), true, ["encrypt", "decrypt"]);
  const jwk = await subtle.exportKey("jwk", pair.publicKey);
  const moved = await subtle.importKey("spki", await subtle.exportKey("spki", pair.publicKey), { name: "RSA-OAEP", hash: "SHA-256" }, true, ["encrypt"]);
  const coded = await subtle.encrypt({ name: "RSA-OAEP" }, moved, text);
  const clear = await subtle.decrypt({ name: "RSA-OAEP" }, pair.privateKey, coded);
  const long = await refused(() => subtle.encrypt({ name: "RSA-OAEP" }, moved, new Uint8Array(100)));
  check(null, { "RSA-OAEP": () => same(clear, text) && jwk.e === b64encode(bytes("010001"), "rawurl") && long === "OperationError" });
}

export default async function () {
  randomValues();
  await digests();
  await ciphers();
  await codes();
  await curves();
  await derived();
  await rsa();
}
