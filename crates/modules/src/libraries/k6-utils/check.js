// `check` of k6-utils. It feeds the metric `checks` itself, as k6's file does.
const { Rate } = require('k6/metrics');

const rate = new Rate('checks');

/** Whether all conditions hold of the value; a promise of it when one of them is a promise. */
function checkAll(value, conditions, tags) {
  const outcomes = Object.entries(conditions).map(([check, condition]) => {
    const count = (held) => {
      rate.add(held ? 1 : 0, Object.assign({}, tags, { check }));
      return held;
    };
    const held = typeof condition === 'function' ? condition(value) : condition;
    return held instanceof Promise ? held.then(count) : count(held);
  });
  const all = (list) => list.every(Boolean);
  return outcomes.some((one) => one instanceof Promise) ? Promise.all(outcomes).then(all) : all(outcomes);
}
