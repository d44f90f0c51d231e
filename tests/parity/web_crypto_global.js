// parity: console
// The global crypto.
export default async function () {
  console.log(typeof crypto, typeof crypto.subtle, crypto.randomUUID().length, crypto.getRandomValues(new Uint8Array(4)).length);
  const digest = await crypto.subtle.digest("SHA-256", new Uint8Array([1, 2, 3]));
  console.log(new Uint8Array(digest).slice(0, 4).join());
  for (const work of [() => crypto.getRandomValues(new Float32Array(1)), () => crypto.getRandomValues(new Uint8Array(65537)), () => crypto.getRandomValues([1])]) {
    try {
      console.log(work().length);
    } catch (error) {
      console.log(error.name);
    }
  }
  for (const work of [() => crypto.subtle.digest("MD5", new Uint8Array(1)), () => crypto.subtle.importKey("raw", new Uint8Array(3), "AES-CBC", true, ["encrypt"]), () => crypto.subtle.generateKey("Ed25519", true, ["sign"])]) {
    try {
      await work();
      console.log("done");
    } catch (error) {
      console.log(error.name);
    }
  }
  const key = await crypto.subtle.generateKey({ name: "HMAC", hash: "SHA-256" }, true, ["sign", "verify"]);
  const signature = await crypto.subtle.sign("HMAC", key, new Uint8Array([1]));
  console.log(key.type, key.extractable, key.usages.join(), signature.byteLength, await crypto.subtle.verify("HMAC", key, signature, new Uint8Array([1])));
}
