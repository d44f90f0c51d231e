// parity: console
// Secrets without a source.
import secrets from "k6/secrets";

export const options = { iterations: 1 };

export default async function () {
  try {
    console.log(await secrets.get("one"));
  } catch (error) {
    console.log(String(error));
  }
}
