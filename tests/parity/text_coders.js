// parity: console
// TextEncoder and TextDecoder.
export default function () {
  console.log(new TextEncoder().encode("é☃").join(), new TextEncoder().encoding, new TextDecoder().encoding);
  console.log(new TextDecoder("utf-16le").decode(new Uint8Array([104, 0, 105, 0])), new TextDecoder("utf-8", { ignoreBOM: true }).decode(new Uint8Array([239, 187, 191, 97])).length);
  for (const work of [() => new TextDecoder("latin1"), () => new TextDecoder("utf-8", { fatal: true }).decode(new Uint8Array([255]))]) {
    try {
      console.log(work().encoding);
    } catch (error) {
      console.log(error.name);
    }
  }
  console.log(new TextDecoder().decode(new Uint8Array([255, 97])), new TextDecoder().decode());
}
