// Exit code 107 after the iterations.
import { check } from "k6";

export const options = { iterations: 2 };

export default function () {
  check(1, { ran: true });
}

export function teardown() {
  throw new Error("teardown");
}
