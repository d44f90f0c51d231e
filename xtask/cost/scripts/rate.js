import http from 'k6/http';

export const options = {
  scenarios: {
    open: {
      executor: 'constant-arrival-rate',
      rate: 400,
      timeUnit: '1s',
      duration: `${Number(__ENV.ITERATIONS) / 400}s`,
      preAllocatedVUs: 20,
    },
  },
};

export default function () {
  http.get(__ENV.URL);
}
