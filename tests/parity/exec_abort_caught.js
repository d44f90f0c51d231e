// parity: console
// An abort cannot be caught.
import exec from "k6/execution";

export const options = { iterations: 2 };

export default function () {
  try {
    exec.test.abort("now");
  } catch (error) {
    console.log("caught");
  } finally {
    console.log("finally");
  }
}
