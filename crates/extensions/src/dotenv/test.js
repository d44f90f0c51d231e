import exec from "k6/execution";
import dotenv, { parse, stringify } from "k6/x/dotenv";
import { is, thrown } from "../../../../tests/lib/assert.js";

// Run in a folder with .env, .env.local, .env.development and .env.development.local, with `-e GIVEN=flag`.
const atInit = { ...__ENV };

export const options = {
  thresholds: { checks: ["rate == 1"] },
  scenarios: {
    plain: { executor: "shared-iterations", vus: 2, iterations: 4 },
    own: { executor: "shared-iterations", vus: 2, iterations: 4, startTime: "200ms", env: { ALL: "scenario", NEW: "new" } },
    after: { executor: "shared-iterations", vus: 2, iterations: 4, startTime: "400ms" },
  },
};

const wanted = { ALL: "development.local", LOCAL: "local", DEVELOPMENT: "development", BASE: "base", GIVEN: "flag" };

export function setup() {
  for (const name of Object.keys(wanted)) is(`${name} in init code`, atInit[name], wanted[name]);
  is("parse", parse('# c\nexport A=1\nB="x\\n${A}" # y\n'), { A: "1", B: "x\n1" });
  is("parse nothing", parse(), {});
  is("stringify", stringify({ B: "x y", A: 7, C: "it's $5" }), 'A=7\nB="x y"\nC="it\'s \\$5"');
  is("there and back", parse(stringify({ A: 'a"b\n$X\\' })), { A: 'a"b\n$X\\' });
  is("default export", [dotenv.parse === parse, dotenv.stringify === stringify], [true, true]);
  is("no format", thrown(() => parse("A=1\nB")), 'GoError: parse(): line 2: found "B", expected NAME=value');
  is("no object", thrown(() => stringify("A=1")), "GoError: stringify(): found string, expected an object");
}

export default function () {
  const isOwn = exec.scenario.name === "own";
  is("of the scenario", [__ENV.ALL, __ENV.NEW], isOwn ? ["scenario", "new"] : ["development.local", undefined]);
  is("of the files", [__ENV.LOCAL, __ENV.DEVELOPMENT, __ENV.BASE, __ENV.GIVEN], ["local", "development", "base", "flag"]);
}
