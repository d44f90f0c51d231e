// Sub-metrics of built-in metrics without samples.
export const options = {
  iterations: 1,
  thresholds: { "http_req_duration{status:500}": ["max<100"], "checks{a:b}": ["rate==1"], http_req_failed: ["rate<1"], ws_sessions: ["count<1"], dropped_iterations: ["count==0"] },
};

export default function () {}
