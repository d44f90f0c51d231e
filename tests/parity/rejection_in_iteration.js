// A rejection that nobody handles in an iteration is logged, and the iteration counts.
import { check } from "k6";

export const options = { iterations: 3 };

export default function () {
  Promise.reject("rejected");
  check(null, { "goes on": () => true });
}
