// parity: command inspect
// parity: args --execution-requirements
// parity: stdout
// What inspect prints of scenarios, and what they need.
export const options = {
  scenarios: {
    a: { executor: "constant-vus", vus: 2, duration: "3s" },
    b: { executor: "ramping-arrival-rate", startRate: 1, preAllocatedVUs: 2, maxVUs: 5, stages: [{ duration: "2s", target: 3 }], startTime: "3s" },
    c: { executor: "per-vu-iterations", vus: 2, iterations: 3, maxDuration: "10s" },
  },
};

export default function () {}
