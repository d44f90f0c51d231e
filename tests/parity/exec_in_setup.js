// parity: console
// What exec says in setup and teardown.
import exec from "k6/execution";

const read = (name, get) => {
  try {
    console.log(name, JSON.stringify(get()));
  } catch (error) {
    console.log(name, String(error));
  }
};
const all = () => {
  read("scenario", () => exec.scenario.name);
  read("vu", () => [exec.vu.idInTest, exec.vu.idInInstance, exec.vu.iterationInInstance]);
  read("in scenario", () => exec.vu.iterationInScenario);
  read("tags", () => exec.vu.tags);
  read("instance", () => [exec.instance.vusActive, exec.instance.iterationsCompleted]);
};

export function setup() {
  all();
}

export default function () {}

export function teardown() {
  all();
}
