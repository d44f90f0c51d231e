// parity: console
// An async function is no check.
import { check } from "k6";

export const options = { iterations: 1 };

export default function () {
  try {
    console.log(check(1, { async: async () => true }));
  } catch (error) {
    console.log(error.name, error.message);
  }
}
