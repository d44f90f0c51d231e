// parity: log
// Which thresholds were crossed.
export const options = {
  iterations: 1,
  thresholds: { iterations: ["count>5"], "iterations{scenario:default}": ["count>6"], iteration_duration: ["avg>=0"] },
};

export default function () {}
