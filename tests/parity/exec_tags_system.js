// parity: console
// Tags of the system may be overwritten, and come back.
import exec from "k6/execution";

export const options = { iterations: 2 };

export default function () {
  console.log(exec.vu.tags.scenario, exec.vu.tags.group, exec.vu.tags.mine);
  exec.vu.tags.scenario = "changed";
  exec.vu.tags.group = "g";
  exec.vu.tags.mine = `${__ITER}`;
}
