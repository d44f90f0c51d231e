// What a threshold names is in the summary though nothing was measured.
export const options = {
  thresholds: {
    checks: ["rate>=0"],
    "checks{kind:none}": ["rate<0.5"],
    "http_req_duration{name:none}": ["p(95)<1", "max==0"],
    "http_reqs{name:none}": ["count==0", "rate==0"],
    "iterations{scenario:none}": ["rate>0"],
    "http_req_failed{name:none}": ["rate==0"],
  },
};

export default function () {}
