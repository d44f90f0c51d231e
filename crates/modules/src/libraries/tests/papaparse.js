// CSV both ways.
import { check } from 'k6';
import papaparse from 'https://jslib.k6.io/papaparse/5.1.1/index.js';

export const options = { thresholds: { checks: ['rate==1'] } };

const json = (text, config) => JSON.stringify(papaparse.parse(text, config).data);

/** Text, settings, data. */
const READ = {
  'rows': ['a,b\n1,2', {}, '[["a","b"],["1","2"]]'],
  'an empty line at the end': ['a,b\n', {}, '[["a","b"],[""]]'],
  'empty lines skipped': ['a,b\n\n1,2\n', { skipEmptyLines: true }, '[["a","b"],["1","2"]]'],
  'lines of blanks skipped': ['a,b\n , \n1,2', { skipEmptyLines: 'greedy' }, '[["a","b"],["1","2"]]'],
  'a header': ['name,age\nAnn,3\nBob,4', { header: true }, '[{"name":"Ann","age":"3"},{"name":"Bob","age":"4"}]'],
  'a header of other names': ['Name\nAnn', { header: true, transformHeader: (name) => name.toLowerCase() }, '[{"name":"Ann"}]'],
  'types': ['a,b,c,d,e\n1,-2.5e3,true,,x', { dynamicTyping: true }, '[["a","b","c","d","e"],[1,-2500,true,null,"x"]]'],
  'types of some': ['a,b\n1,2', { header: true, dynamicTyping: { b: true } }, '[{"a":"1","b":2}]'],
  'numbers too large stay text': ['9007199254740993,1', { dynamicTyping: true }, '[["9007199254740993",1]]'],
  'quotes': ['"a,1","b""c"\n"d\ne",f', {}, '[["a,1","b\\"c"],["d\\ne","f"]]'],
  'another escape': ['"a\\"b",c', { escapeChar: '\\' }, '[["a\\"b","c"]]'],
  'carriage returns': ['a,b\r\n1,2\r\n', {}, '[["a","b"],["1","2"],[""]]'],
  'semicolons': ['a;b;c\n1;2;3', {}, '[["a","b","c"],["1","2","3"]]'],
  'tabs': ['a\tb\n1\t2', {}, '[["a","b"],["1","2"]]'],
  'a mark of byte order stays': ['\ufeffa,b', {}, '[["\ufeffa","b"]]'],
  'a quote that never ends': ['"a,b\n1,2\n', {}, '[["a,b\\n1,2\\n"]]'],
  'a quote that never ends, below a header': ['user\nann\n"bob\n', { header: true }, '[{"user":"ann"},{"user":"bob\\n"}]'],
  'quotes in fast mode': ['"a","b"\n', { fastMode: true }, '[["\\"a\\"","\\"b\\""],[""]]'],
  'text behind a quote': ['"a"x,b\n1,2', {}, '[["a\\"x,b\\n1,2"]]'],
  'blanks behind a quote': ['"a"  ,b', {}, '[["a","b"]]'],
  'dates': ['2020-01-02T03:04:05Z,x', { dynamicTyping: true }, '[["2020-01-02T03:04:05.000Z","x"]]'],
  'a delimiter of a function': ['a|b', { delimiter: () => '|' }, '[["a","b"]]'],
  'the first chunk': ['skip\na,b', { beforeFirstChunk: (text) => text.slice(5) }, '[["a","b"]]'],
  'comments': ['a,b\n# no\n1,2', { comments: '#' }, '[["a","b"],["1","2"]]'],
  'the first rows': ['a\n1\n2\n3', { header: true, preview: 2, delimiter: ',' }, '[{"a":"1"},{"a":"2"}]'],
  'an empty last field': ['a,b\n1,', {}, '[["a","b"],["1",""]]'],
  'too many fields': ['a\n1,2', { header: true, delimiter: ',' }, '[{"a":"1","__parsed_extra":["2"]}]'],
  'a changed value': ['a,b\n1,2', { transform: (value) => `<${value}>` }, '[["<a>","<b>"],["<1>","<2>"]]'],
};

const WRITTEN = {
  'rows': [[['a', 'b'], [1, null]], {}, 'a,b\r\n1,'],
  'objects': [[{ a: 1, b: 'x,y' }, { a: 2, b: 'q"r' }], {}, 'a,b\r\n1,"x,y"\r\n2,"q""r"'],
  'fields and data': [{ fields: ['a', 'b'], data: [[1, 2]] }, { newline: '\n' }, 'a,b\n1,2'],
  'columns': [[{ a: 1, b: 2 }], { columns: ['b'], header: false }, '2'],
  'everything quoted': [[['a', ' b']], { quotes: true, delimiter: ';' }, '"a";" b"'],
  'JSON': ['[{"a":1}]', {}, 'a\r\n1'],
};

export default function () {
  for (const [name, [text, config, expected]] of Object.entries(READ)) {
    const found = json(text, config);
    if (found !== expected) console.error(`${name}: ${found}`);
    check(found, { [name]: () => found === expected });
  }
  for (const [name, [value, config, expected]] of Object.entries(WRITTEN)) {
    const found = papaparse.unparse(value, config);
    if (found !== expected) console.error(`${name}: ${JSON.stringify(found)}`);
    check(found, { [`written: ${name}`]: () => found === expected });
  }
  const { errors, meta } = papaparse.parse('a,b\n1\n"x,2', { header: true, delimiter: ',' });
  check(errors.map((error) => error.code).join(), {
    'what is wrong is told': (codes) => codes === 'MissingQuotes,TooFewFields,TooFewFields',
  });
  check(meta, {
    'what was found': ({ delimiter, linebreak, fields }) => delimiter === ',' && linebreak === '\n' && fields.join() === 'a,b',
  });
  const steps = [];
  papaparse.parse('a,b\nc,d\ne,f', {
    step: (row, parser) => {
      steps.push(row.data.join(''));
      if (steps.length === 2) parser.abort();
    },
    complete: (results) => steps.push(results.meta.aborted),
  });
  check(steps.join(), { 'row by row, until enough': (found) => found === 'ab,cd,true' });
  const chunks = [];
  papaparse.parse('a,b\nc,d\ne,f', { chunkSize: 5, chunk: (results) => chunks.push(results.data.length), complete: () => chunks.push('end') });
  check(chunks.join(), { 'in pieces': (found) => found === '1,1,1,end' });
}
