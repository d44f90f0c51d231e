// parity: args --summary-trend-stats min,p(101)
// A percentile beyond 100.
export default function () {}
