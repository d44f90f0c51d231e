// What exec tells in each phase, and the tags and metadata of a virtual user. Runs under k6 as well.
import { check, group } from "k6";
import exec, { instance, scenario, test, vu } from "k6/execution";
import { messageOf } from "../../../../tests/lib/assert.js";

export const options = {
  tags: { run: "r1" },
  scenarios: {
    first: { executor: "per-vu-iterations", vus: 2, iterations: 3, tags: { own: "s1" } },
    second: { executor: "shared-iterations", vus: 1, iterations: 2, startTime: "100ms", exec: "other", env: { WHERE: "second" } },
  },
  thresholds: {
    checks: ["rate==1"],
    "checks{mine:yes,own:s1,scenario:first}": ["rate==1"],
    "checks{mine:yes}": ["rate==1"],
    "checks{own:changed}": ["rate==1"],
    "checks{scenario:second}": ["rate==1"],
    "checks{group:::setup}": ["rate==1"],
    "checks{group:::teardown}": ["rate==1"],
    "checks{run:r1}": ["rate==1"],
  },
};

const inInit = {
  "vu": messageOf(() => exec.vu.idInInstance),
  "vu.tags": messageOf(() => exec.vu.tags.own),
  "scenario": messageOf(() => exec.scenario.name),
  "options": messageOf(() => exec.test.options),
  "fail": messageOf(() => exec.test.fail("in init")),
};

export function setup() {
  check(null, {
    "init has no vu": () => inInit.vu.includes("init context") && inInit["vu.tags"].includes("init context"),
    "init has no scenario": () => inInit.scenario !== "",
    "init has no options": () => inInit.options.includes("init context"),
    "fail is refused in init": () => inInit.fail !== "",
    "vu 0": () => vu.idInInstance === 0 && vu.idInTest === 0 && vu.iterationInInstance === 0 && vu.iterationInScenario === 0,
    "tags of setup": () => JSON.stringify(sorted(vu.tags)) === '{"group":"::setup","run":"r1"}',
    "no scenario in setup": () => messageOf(() => scenario.name) !== "",
    "options in setup": () => test.options.tags.run === "r1",
    "instance in setup": () => instance.iterationsCompleted === 0 && instance.vusActive === 0,
  });
}

export function teardown() {
  check(null, {
    "tags of teardown": () => vu.tags.group === "::teardown",
    "no scenario in teardown": () => messageOf(() => scenario.name) !== "",
  });
}

const sorted = (object) => Object.fromEntries(Object.entries(object).sort());
const seen = [];

export default function () {
  const round = vu.iterationInScenario;
  check(null, {
    "four parts": () => Object.keys(exec).sort().join() === "instance,scenario,test,vu",
    "ids": () => vu.idInInstance === __VU && vu.idInTest === __VU && __VU >= 1 && __VU <= 3,
    "iterations of the user": () => vu.iterationInInstance === __ITER && round === __ITER,
    "scenario": () => scenario.name === "first" && scenario.executor === "per-vu-iterations",
    "start time": () => scenario.startTime <= Date.now() && scenario.startTime > Date.now() - 60000,
    "progress": () => scenario.progress >= 0 && scenario.progress <= 1,
    "numbers of iterations": () => {
      const number = scenario.iterationInTest;
      const fresh = !seen.includes(number);
      seen.push(number);
      return fresh && number === scenario.iterationInInstance && number >= 0 && number < 6;
    },
    "instance": () =>
      instance.vusInitialized >= 2 && instance.vusActive >= 1 && instance.iterationsInterrupted === 0 &&
      instance.iterationsCompleted >= round && instance.currentTestRunDuration > 0,
    "JSON of all parts": () => {
      const all = JSON.parse(JSON.stringify({ instance, scenario, vu }));
      return all.vu.idInTest === __VU && all.scenario.name === "first" && all.instance.vusInitialized >= 2 &&
        all.vu.tags.scenario === "first" && typeof all.vu.metrics.metadata === "object";
    },
    "numbers are read-only": () => messageOf(() => { exec.vu.idInTest = 9; }) !== "" && vu.idInTest === __VU,
    "parts are read-only": () => messageOf(() => { exec.vu = 9; }) !== "" && typeof exec.vu === "object",
    "options": () => test.options.scenarios.first.vus === 2 && test.options.scenarios.second.env.WHERE === "second",
    "options are frozen": () => Object.isFrozen(test.options) && Object.isFrozen(test.options.scenarios.first),
  });

  if (round === 0) {
    check(null, {
      "tags at first": () => JSON.stringify(sorted(vu.tags)) === '{"group":"","own":"s1","run":"r1","scenario":"first"}',
      "two names for the tags": () => vu.metrics.tags.own === "s1",
      "no such tag": () => vu.tags.none === undefined && !("none" in vu.tags),
      "setting": () => { vu.tags.mine = "yes"; vu.metrics.tags.number = 5; vu.tags["flag"] = true; return true; },
      "set": () => vu.tags.mine === "yes" && vu.tags.number === "5" && vu.metrics.tags.flag === "true" && "mine" in vu.tags,
      "deleting": () => delete vu.tags.number && vu.tags.number === undefined && delete vu.tags.none,
      "other values throw": () =>
        [{}, null, undefined, [1]].every((value) => messageOf(() => { vu.tags.bad = value; }).includes("'bad'")),
      "metadata": () => {
        vu.metrics.metadata.trace = "t1";
        vu.metrics.metadata.count = 1;
        delete vu.metrics.metadata.count;
        return JSON.stringify(vu.metrics.metadata) === '{"trace":"t1"}';
      },
      "other metadata throws": () => messageOf(() => { vu.metrics.metadata.bad = {}; }).includes("'bad'"),
    });
    group("inside", () => check(vu.tags.group, { "the group is a tag": (tag) => tag === "::inside" }));
  } else {
    check(null, {
      "tags stay": () => vu.tags.mine === "yes" && vu.tags.own === (round === 1 ? "s1" : "changed"),
      "metadata stays": () => vu.metrics.metadata.trace === "t1",
    });
    vu.tags.own = "changed";
    check(null, { "a tag of the scenario can be replaced": () => vu.tags.own === "changed" });
    if (round === 2) {
      delete vu.tags.scenario;
      check(null, { "a tag of the scenario can be removed": () => !("scenario" in vu.tags) });
    }
  }
}

export function other() {
  check(null, {
    "the other scenario": () => scenario.name === "second" && scenario.executor === "shared-iterations" && __ENV.WHERE === "second",
    "its iterations begin at 0": () => vu.iterationInScenario === scenario.iterationInTest,
    "tags of the first scenario are gone": () => vu.tags.own === undefined && vu.tags.mine === undefined && vu.tags.scenario === "second",
  });
}
