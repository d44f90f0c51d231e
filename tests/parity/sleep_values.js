// parity: console
// What sleep takes.
import { sleep } from "k6";

export const options = { iterations: 1 };

export default function () {
  for (const value of [0, 0.001, -1, "0.001", null, undefined, NaN, "text", {}]) {
    const begin = Date.now();
    try {
      console.log(sleep(value), Date.now() - begin < 500);
    } catch (error) {
      console.log(error.name, error.message);
    }
  }
}
