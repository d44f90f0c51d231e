// Calls of k6-utils. Math.random and the clock are the driver's, so that random results and stages can be compared.
const drawn = (run) => (...args) => {
  const { random: before } = Math;
  Math.random = numbers(SEED);
  try {
    return run(...args);
  } finally {
    Math.random = before;
  }
};
const number = () => (chance(0.6) ? below(2000) - 500 : any());
const part = () => (chance(0.85) ? word('ab<>', 3) : any());

/** Runs with the scenario's clock at so many milliseconds. */
const at = (elapsed, run) => {
  const Real = Date;
  const now = exec.scenario.startTime + elapsed;
  globalThis.Date = class extends Real {
    constructor(...args) {
      super(...(args.length > 0 ? args : [now]));
    }

    static now() {
      return now;
    }
  };
  try {
    return run();
  } finally {
    globalThis.Date = Real;
  }
};

var settings = {
  scenarios: {
    staged: {
      executor: 'ramping-vus', startVUs: 1, gracefulRampDown: '0s', gracefulStop: '30s',
      stages: [['10s', 1], ['1m', 5], ['20s', 2], ['1h1m', 9], ['1500ms', 9], ['1s', 0]].map(([duration, target]) => ({ duration, target })),
    },
  },
  thresholds: { 'checks{check:a}': ['rate>=0'], 'checks{check:b}': ['rate>=0'], 'checks{own:x}': ['rate>=0'] },
};

// The scenario of this library has an hour: the driver ends the test when all calls are made.
var isEndless = true;

const stageCalls = {
  getCurrentStageIndex: { make: () => [below(4000000)], run: (elapsed) => at(elapsed, () => subject.getCurrentStageIndex()) },
  tagWithCurrentStageIndex: { make: () => [below(4000000)], run: (elapsed) => tagged(elapsed, 'tagWithCurrentStageIndex', 'stage') },
  tagWithCurrentStageProfile: { make: () => [below(100000)], run: (elapsed) => tagged(elapsed, 'tagWithCurrentStageProfile', 'stage_profile') },
};
function tagged(elapsed, name, tag) {
  at(elapsed, () => subject[name]());
  return exec.vu.tags[tag];
}

const condition = () => {
  const value = any();
  return pick([() => value, () => () => value, () => (given) => given, () => Promise.resolve(value), () => async () => value, () => () => { throw new Error('thrown'); }])();
};

function calls() {
  const all = {
    uuidv4: { make: () => pick([[], [false], [0]]), run: drawn((...args) => subject.uuidv4(...args)) },
    'uuidv4 secure': { make: () => [pick([true, 1])], run: (secure) => /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(subject.uuidv4(secure)) },
    randomIntBetween: { make: () => [number(), number()], run: drawn((...args) => subject.randomIntBetween(...args)) },
    randomItem: { make: () => [chance(0.7) ? many(5, any) : any()], run: drawn((...args) => subject.randomItem(...args)) },
    randomString: {
      make: () => [pick([0, 1, 5, 30, '3', undefined, null, true, NaN, 'abc', '', {}]), ...(chance(0.5) ? [chance(0.7) ? word('xyzü☃', 5) : any()] : [])],
      run: drawn((...args) => subject.randomString(...args)),
    },
    findBetween: {
      make: () => {
        const [left, right] = [part(), part()];
        const isEndless = [left, right].every((mark) => !(mark?.length > 0));
        return [chance(0.9) ? word('ab<>c', 20) : any(), left, right, ...(isEndless || chance(0.3) ? [] : [pick([true, false, 1, undefined, null])])];
      },
      run: (...args) => subject.findBetween(...args),
    },
    normalDistributionStages: {
      make: () => [number(), number(), ...(chance(0.3) ? [] : [chance(0.7) ? below(40) : pick([-1, -2, -3, 2.5, '3', null, undefined, NaN, true, [], {}])])],
      run: (...args) => subject.normalDistributionStages(...args),
    },
    parseDuration: {
      make: () => [chance(0.85) ? many(4, () => `${pick(['', '1', '10', '1.5', '.', '1.2.3', '-1', '007'])}${pick(['d', 'h', 'm', 's', 'ms', 'us', '', 'x', ' ', 'M'])}`).join('') : any()],
      run: (...args) => subject.parseDuration(...args),
    },
    check: {
      make: () => [chance(0.3) ? Promise.resolve(any()) : any(), Object.fromEntries(many(3, (at) => ['abc'[at], condition()])), pick([undefined, { own: 'x' }, null])],
      run: (...args) => subject.check(...args),
    },
    ...stageCalls,
  };
  return Object.fromEntries(Object.entries(all).filter(([name]) => name.split(' ')[0] in subject && !(name === 'uuidv4 secure' && !('check' in subject))));
}
