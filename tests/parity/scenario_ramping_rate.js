// parity: no-counts
// A rate that grows.
export const options = {
  scenarios: {
    ramp: {
      executor: "ramping-arrival-rate",
      startRate: 10,
      timeUnit: "1s",
      preAllocatedVUs: 2,
      stages: [{ duration: "500ms", target: 50 }, { duration: "500ms", target: 50 }],
    },
  },
  thresholds: { iterations: ["count>=38", "count<=42"] },
};

export default function () {}
