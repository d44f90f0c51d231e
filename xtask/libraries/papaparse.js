// Calls of papaparse with generated texts and options.
const Papa = subject.default ?? subject;
const cell = () => pick(['', 'a', 'b c', '1', '-2.5', '1e3', '9007199254740993', 'true', 'FALSE', ' x ', '"q"', '"a""b"', '"a,b"', '"l1\nl2"', '"', 'a"b', '"x" ', '"x"y', '2020-01-02T03:04:05Z', 'ü☃', '\\"', '""', "'s'", '#c', '\ufeff', '__proto__x', '0', '.5', '5.', '2020-01-02T03:04:05.678+01:00', '2020-01-02T03:04Z']);
const row = (delimiter) => Array.from({ length: 1 + below(4) }, cell).join(delimiter);
const csv = () => {
  const [delimiter, newline] = [pick([',', ',', ';', '\t', '|', '\x1e', '::']), pick(['\n', '\n', '\r\n', '\r'])];
  const text = many(7, () => pick([() => row(delimiter), () => row(delimiter), () => row(delimiter), () => '', () => '# comment, more', () => ' '])()).join(newline);
  return `${pick(['', '', '', '\ufeff'])}${text}${pick(['', newline])}`;
};

/** Options; functions write down what they get. */
function config(log) {
  const told = (name) => (...args) => void log.push(`${name} ${render(args.filter((one) => !(one instanceof Papa.ParserHandle)))}`);
  const all = {
    delimiter: () => pick([',', ';', '::', '', '\n', '"', undefined, null, 5, () => ';', '\ufeff']), newline: () => pick(['\n', '\r\n', '\r', '', 'x', undefined]),
    quoteChar: () => pick(['"', "'", '|', undefined, null, '']), escapeChar: () => pick(['"', '\\', "'", undefined]), header: () => pick([true, false, 1]),
    transformHeader: () => pick([(name) => `${name}!`, (name) => name.trim(), null]), dynamicTyping: () => pick([true, false, { a: true, 0: true }, (field) => field === 0 || field === 'a', [true]]),
    preview: () => pick([0, 1, 2, 5]), comments: () => pick([true, false, '#', '//', ',', '"']), skipEmptyLines: () => pick([true, false, 'greedy']),
    fastMode: () => pick([true, false, undefined, null]), delimitersToGuess: () => pick([[';', ','], ['x'], []]), transform: () => pick([(value, field) => `${field}:${value}`, null]),
    step: () => told('step'), chunk: () => told('chunk'), complete: () => told('complete'), error: () => told('error'),
    beforeFirstChunk: () => pick([(text) => text.toUpperCase(), () => undefined, () => 'x,y']), chunkSize: () => pick([1, 3, 7, '5', 100, NaN]), worker: () => true, unknown: () => 1,
  };
  const names = Object.keys(all).filter(() => chance(0.17));
  return Object.fromEntries(names.map((name) => [name, all[name]()]));
}

const value = () => pick([() => cell(), () => below(100), () => null, () => undefined, () => true, () => new Date(0), () => ({ a: 1 }), () => ['n', 1], () => ' padded ', () => 'say "hi"', () => 'a,b;c\td', () => 'x\ny'])();
const record = () => Object.fromEntries(['a', 'b', 'c d'].filter(() => chance(0.8)).map((key) => [key, value()]));
const table = () => pick([
  () => many(4, () => many(4, value)), () => many(4, record), () => ({ fields: ['a', 'b'], data: many(3, () => [value(), value()]) }), () => ({ data: many(3, record) }),
  () => ({ fields: ['a', 'c d'], data: many(3, record) }), () => JSON.stringify(many(3, record)), () => ({ data: [1, 2, 3] }), () => ({ data: JSON.stringify([['a', 1]]), fields: 'x' }),
  () => ({ meta: { fields: ['b'] }, data: many(2, record) }), () => [1, 2], any,
])();
const unparseOptions = () => {
  const all = {
    quotes: () => pick([true, false, [true, false], (one) => typeof one === 'number', 1]), quoteChar: () => pick(['"', "'", '|']), escapeChar: () => pick(['"', '\\', "'"]),
    delimiter: () => pick([',', ';', '\t', '"', '\n', '', 5, '::']), header: () => chance(0.5), newline: () => pick(['\n', '\r\n', '']), skipEmptyLines: () => pick([true, false, 'greedy']),
    columns: () => pick([['b', 'a'], ['x'], [], 'a']),
  };
  return chance(0.1) ? any() : Object.fromEntries(Object.keys(all).filter(() => chance(0.3)).map((name) => [name, all[name]()]));
};

function calls() {
  return {
    parse: {
      count: 8 * COUNT,
      make: () => [chance(0.98) ? csv() : pick([undefined, null, 5, '']), below(2 ** 31)],
      run: (text, seed) => {
        const before = random;
        random = numbers(seed);
        const log = [];
        const options = chance(0.05) ? undefined : config(log);
        random = before;
        const shown = render(options);
        if (options?.escapeChar === '' || (options?.quoteChar === '' && !options.fastMode)) return 'left out: endless';
        try {
          return [shown, Papa.parse(text, options), log, options];
        } catch (error) {
          return [shown, errorText(error), log];
        }
      },
    },
    'parse stopped': {
      make: () => [csv(), pick(['step', 'chunk']), pick(['abort', 'pause', 'resume']), pick([undefined, 3, 10]), chance(0.5), below(3)],
      run: (text, name, how, chunkSize, header, after) => {
        const log = [];
        const handles = [];
        let left = after;
        const options = { chunkSize, header, newline: '\n', complete: (...args) => void log.push(`complete ${render(args)}`) };
        options[name] = (results, handle) => {
          log.push(render(results));
          left -= 1;
          if (left >= 0) return;
          handles.push(handle);
          if (how === 'abort') handle.abort();
          else handle.pause();
        };
        const value = render(Papa.parse(text, options));
        for (let rounds = 0; how === 'resume' && handles.length > 0 && rounds < 20; rounds += 1) handles.shift().resume();
        return [value, log];
      },
    },
    unparse: { count: 4 * COUNT, make: () => [table(), unparseOptions()], run: (...args) => Papa.unparse(...args) },
    Parser: {
      make: () => [csv(), config([])],
      run: (text, options) => {
        const { step, ...rest } = options;
        if (rest.escapeChar === '' || rest.quoteChar === '' || rest.delimiter === '') return 'left out: endless';
        const parser = new Papa.Parser(rest);
        return [parser.parse(text, pick([0, 5]), chance(0.5)), parser.getCharIndex()];
      },
    },
    ParserHandle: { make: () => [csv()], run: (text) => { const handle = new Papa.ParserHandle({ header: chance(0.5) }); return [handle.parse(text, 0, false), handle.paused(), handle.aborted()]; } },
    StringStreamer: { make: () => [csv()], run: (text) => new Papa.StringStreamer({ header: true }).stream(text) },
    constants: { count: 1, make: () => [], run: () => Object.fromEntries(Object.entries(Papa).filter(([, one]) => typeof one !== 'function')) },
  };
}
