// Every script's results as JSON, { metric: values }, where run.py reads them.
export function handleSummary(data) {
  const values = {};
  for (const name of Object.keys(data.metrics)) values[name] = data.metrics[name].values;
  return { [__ENV.SUMMARY || 'stdout']: JSON.stringify(values) };
}

// Options of a closed loop from the environment.
export function closed(more) {
  return Object.assign({
    vus: Number(__ENV.VUS || 1),
    duration: __ENV.DURATION || '5s',
    insecureSkipTLSVerify: true,
    summaryTrendStats: ['med', 'p(99)'],
  }, more);
}
