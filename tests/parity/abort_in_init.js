// parity: no-wrapper
// exec.test.abort in init code: exit code 108.
import exec from "k6/execution";

exec.test.abort("not today");

export default function () {}
