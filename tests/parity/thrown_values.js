// Whatever an iteration throws, it counts, and the next one begins.
import { check } from "k6";

export const options = { iterations: 7 };

export default function () {
  check(null, { begins: () => true });
  switch (__ITER) {
    case 0: throw "a string";
    case 1: throw 42;
    case 2: throw { an: "object" };
    case 3: throw undefined;
    case 4: ({}).nothing();
      break;
    case 5: new ({}).Nothing();
  }
  check(null, { ends: () => true });
}
