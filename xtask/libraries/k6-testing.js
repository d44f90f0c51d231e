// Calls of k6-testing. Places are those of the calls of this file, and are taken out of messages.
const plain = (message) => message.replace(/(At: |at=)[^\n ]*/, '$1').replace(/(Filename: |filename=)[^\n ]*/, '$1').replace(/(Line: |line=)[^\n ]*/, '$1');

// JSON has no BigInt; k6's file fails then although an expectation holds.
const value = () => {
  for (;;) {
    const made = any();
    if (typeof made !== 'bigint') return made;
  }
};
const likely = () => (chance(0.4) ? below(3) : value());
const kinds = [Date, Map, Set, Error, Array, Object];
const MATCHERS = [
  ['toBe', () => [likely()]], ['toBeCloseTo', () => [chance(0.8) ? below(30) / 10 : value(), ...(chance(0.5) ? [] : [below(4)])]],
  ['toBeDefined', () => []], ['toBeFalsy', () => []], ['toBeNaN', () => []], ['toBeNull', () => []], ['toBeTruthy', () => []], ['toBeUndefined', () => []],
  ...['toBeGreaterThan', 'toBeGreaterThanOrEqual', 'toBeLessThan', 'toBeLessThanOrEqual', 'toEqual', 'toContain', 'toContainEqual'].map((name) => [name, () => [likely()]]),
  ['toBeInstanceOf', () => [pick(kinds)]], ['toHaveLength', () => [below(4)]],
  ['toHaveProperty', () => [pick(['a', 'a.b', 'a.b[0]', 'a.b[1].c', 'a.b[7]', 'd e', 'length', '[0]', '', 'x.y', 'a]', '0'])].concat(chance(0.4) ? [likely()] : [])],
];
const received = () => (chance(0.3) ? below(3) : chance(0.3) ? pick([[0, 1, 2], new Set([1, 2]), 'abc', { a: { b: [1, { c: 2 }] } }, [{ a: 1 }]]) : value());

function judged(configured, name, { isNegated, got, args, custom }) {
  const found = [];
  const assertFn = (holds, message, soft, mode) => holds || found.push([plain(message), soft, mode]);
  let all = subject.expect.configure({ ...configured, assertFn })(got, custom);
  if (isNegated) all = all.not;
  if (all === undefined || all[name] === undefined) return 'not there';
  const returned = all[name](...args);
  return [returned, found];
}

function calls() {
  const of = (configured) => Object.fromEntries(
    MATCHERS.map(([name, make]) => [
      `${name} ${JSON.stringify(configured)}`,
      {
        make: () => [{ isNegated: chance(0.4), got: received(), args: make(), custom: chance(0.2) ? 'as wanted' : undefined }],
        run: (one) => judged(configured, name, one),
      },
    ]),
  );
  return {
    ...of({ colorize: false }),
    ...of({ display: 'inline', soft: true, softMode: 'throw' }),
    config: { make: () => [], run: () => [subject.expect.config, Object.keys(subject.expect(1)).sort()], count: 1 },
    soft: {
      make: () => [below(3), below(3)],
      run: (one, other) => {
        try {
          subject.expect.configure({ soft: true, softMode: 'throw', colorize: false })(one).toBe(other);
          return 'holds';
        } catch (error) {
          return [error.name, plain(error.message)];
        }
      },
    },
    colorize: { make: () => [pick(['a', '', 'x y']), pick(['red', 'green', 'darkGrey', 'white', 'cyan', 'brightBlue', 'reset'])], run: subject.colorize },
  };
}
