// parity: console
// parity: args --secret-source mock=one=first,two=second
// Secrets, which the log hides.
import secrets from "k6/secrets";

export const options = { iterations: 1 };

export default async function () {
  const one = await secrets.get("one");
  console.log(one, one.length, `${one} inside`, [one]);
  try {
    await secrets.get("missing");
  } catch (error) {
    console.log(String(error));
  }
  try {
    console.log((await secrets.source("other").get("x")).length);
  } catch (error) {
    console.log(String(error));
  }
}
