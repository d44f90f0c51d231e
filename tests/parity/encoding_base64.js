// parity: console
// Base64 in all its forms.
import encoding, { b64decode, b64encode } from "k6/encoding";

export default function () {
  for (const form of [undefined, "std", "rawstd", "url", "rawurl", "unknown"]) {
    for (const text of ["", "a", "é☃?>", "subjects?_d=1&~"]) {
      const coded = b64encode(text, form);
      console.log(form, coded, b64decode(coded, form, "s"), b64decode(coded, form).byteLength);
    }
  }
  console.log(b64encode(new Uint8Array([255, 254, 0]).buffer), encoding.b64encode("x"));
  for (const work of [() => b64encode(5), () => b64encode(null), () => b64encode(), () => b64encode([1]), () => b64encode({}), () => b64decode("***"), () => b64decode("YQ", "std"), () => b64decode(5), () => b64encode(new Uint8Array([1, 2]))]) {
    try {
      console.log(JSON.stringify(work()));
    } catch (error) {
      console.log(error.name, error.message);
    }
  }
}
