// TypeScript runs as it is: types are stripped, nothing has to be built.
//
//   onrush serve &
//   onrush run examples/typescript.ts
import { check } from "k6";
import http from "k6/http";
import { Trend } from "k6/metrics";

interface Step {
  name: string;
  path: `/${string}`;
  expected: number;
}

const TARGET: string = __ENV.TARGET || "http://127.0.0.1:8080";

const steps: readonly Step[] = [
  { name: "page", path: "/", expected: 200 },
  { name: "missing", path: "/status/404", expected: 404 },
  { name: "text", path: "/bytes/1024", expected: 200 },
];

const size = new Trend("answer_size");

export const options = {
  vus: 2,
  iterations: 20,
  thresholds: { checks: ["rate==1"], "answer_size{step:text}": ["min==1024", "max==1024"] },
};

function run<T extends Step>(step: T): void {
  const response = http.get(`${TARGET}${step.path}`, {
    responseType: "binary",
    responseCallback: http.expectedStatuses(step.expected),
    tags: { step: step.name },
  });
  size.add((response.body as ArrayBuffer | null)?.byteLength ?? 0, { step: step.name });
  check(response, { "status is the expected one": (r) => r.status === step.expected });
}

export default function (): void {
  for (const step of steps) run(step);
}
