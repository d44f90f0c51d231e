// Fewer users at most than at first.
export const options = {
  scenarios: { a: { executor: "constant-arrival-rate", rate: 1, duration: "1s", preAllocatedVUs: 3, maxVUs: 2 } },
};

export default function () {}
