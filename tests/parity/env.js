// parity: env FROM_OUTSIDE=outer
// parity: args -e GIVEN=a=b -e EMPTY=
// Variables of the environment and of the command line.
import { check } from "k6";

export default function () {
  check(__ENV, {
    given: (env) => env.GIVEN === "a=b",
    empty: (env) => env.EMPTY === "",
    outside: (env) => env.FROM_OUTSIDE === "outer",
    missing: (env) => env.MISSING_NAME === undefined && !("MISSING_NAME" in env),
  });
}
