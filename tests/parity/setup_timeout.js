// Exit code 100.
import { sleep } from "k6";

export const options = { setupTimeout: "200ms" };

export function setup() {
  sleep(5);
}

export default function () {}
