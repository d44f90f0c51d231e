// Asks bench/apps/spin.js, as fast as it answers, to compute for US microseconds.
import http from 'k6/http'

export const options = { vus: 8, duration: __ENV.DURATION }

export default function () {
  http.get(`${__ENV.SERVER}/${__ENV.US}`)
}
