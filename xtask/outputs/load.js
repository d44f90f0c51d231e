// One of everything that outputs carry: requests that succeed and fail, checks, all kinds of metrics, dropped iterations.
import http from 'k6/http'
import { check, group, sleep } from 'k6'
import { Counter, Gauge, Rate, Trend } from 'k6/metrics'

const counter = new Counter('my_counter')
const gauge = new Gauge('my_gauge')
const rate = new Rate('my_rate')
const trend = new Trend('my_trend')

export const options = {
  discardResponseBodies: true,
  scenarios: {
    steady: { executor: 'constant-vus', vus: 2, duration: '5s', exec: 'steady' },
    late: {
      executor: 'constant-arrival-rate', rate: 10, timeUnit: '1s', duration: '5s', preAllocatedVUs: 1, maxVUs: 1,
      exec: 'late',
    },
  },
}

export function steady() {
  const response = http.get(`${__ENV.TARGET}/status/${Math.random() < 0.1 ? 500 : 200}`, { tags: { name: 'a "b", c=d' } })
  check(response, { 'is 200, "fine"': (r) => r.status === 200 })
  group('one, two', () => counter.add(1.5, { kind: 'odd tag: ä\\' }))
  gauge.add(7)
  rate.add(Math.random() < 0.5)
  trend.add(Math.random() * 300 - 5)
  sleep(0.02)
}

export function late() {
  http.get(`${__ENV.TARGET}/`)
  sleep(0.5)
}
