// parity: console
// What exec refuses in init code.
import exec from "k6/execution";

const read = (name, get) => {
  try {
    console.log(name, JSON.stringify(get()));
  } catch (error) {
    console.log(name, String(error));
  }
};
if (__VU === 0) {
  read("scenario", () => exec.scenario.name);
  read("options", () => exec.test.options);
  read("vu", () => exec.vu.idInTest);
  read("tags", () => exec.vu.tags);
  read("instance", () => exec.instance.vusActive);
}

export default function () {}
