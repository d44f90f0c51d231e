// parity: log
// Exit code 101.
import { sleep } from "k6";

export const options = { teardownTimeout: "200ms" };

export default function () {}

export function teardown() {
  sleep(5);
}
