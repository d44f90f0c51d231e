// parity: console
// Names of files that need care.
import http from "k6/http";

export const options = { iterations: 1 };

export default function () {
  for (const name of ['quo"te', "back\\slash", "é☃", "", "a;b"]) {
    const response = http.post(`${__ENV.TARGET}/dump/request`, { "fi\"eld": http.file("x", name) });
    console.log(response.body.split("\n").filter((line) => /^Content-Disp|^Content-Type: app/.test(line)).map((l) => l.trim()).join(" | "));
  }
  try {
    console.log(http.file(5, "n").data);
  } catch (error) {
    console.log(error.name, error.message);
  }
}
