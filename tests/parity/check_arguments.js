// parity: console
// What check takes and refuses.
import { check } from "k6";

export const options = { iterations: 1 };

const tried = (work) => {
  try {
    console.log(work());
  } catch (error) {
    console.log(error.name, error.message);
  }
};

export default function () {
  tried(() => check(1));
  tried(() => check());
  tried(() => check(1, null));
  tried(() => check(1, undefined));
  tried(() => check(1, {}));
  tried(() => check(1, [true, false]));
  tried(() => check(1, "text"));
  tried(() => check(1, { "a::b": true }));
  tried(() => check(1, { "": true }));
  tried(() => check(1, { tagged: true }, { a: 1, b: true }));
  tried(() => check(1, { tagged: true }, { a: { b: 1 } }));
  tried(() => check(1, { tagged: true }, null));
  tried(() => check(1, { tagged: true }, 5));
}
