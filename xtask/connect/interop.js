// Calls of Connect against Connect for Go: each case is a check, for each codec and version of HTTP.
import { check } from 'k6';
import { Client, Stream } from 'k6/net/grpc';

const SERVICE = 'onrush.interop.v1.Interop/';
const isTls = __ENV.CERTIFICATE !== '';
const cacerts = isTls ? open(__ENV.CERTIFICATE) : undefined;
const client = new Client();
client.load(['.'], 'interop.proto');

export const options = { thresholds: { checks: ['rate==1'] }, insecureSkipTLSVerify: isTls };

/** Everything that a stream says. `start` and `onData` write. */
function listen(method, start, onData, params) {
  return new Promise((resolve) => {
    const stream = new Stream(client, SERVICE + method, params);
    const heard = { data: [], error: null };
    stream.on('data', (message) => {
      heard.data.push(message);
      if (onData) onData(stream, heard.data.length);
    });
    stream.on('error', (error) => { heard.error = error; });
    stream.on('end', () => resolve(heard));
    start(stream);
  });
}

const LONG = 'long '.repeat(10_000);

const cases = {
  unary: () => {
    const { status, message } = client.invoke(`${SERVICE}Say`, { text: 'ü', list: [1, null, { deep: true }] });
    return status === 0 && JSON.stringify(message) === '{"list":[1,null,{"deep":true}],"text":"ü"}' ||
      JSON.stringify(message) === '{"text":"ü","list":[1,null,{"deep":true}]}';
  },
  'large and compressed': () => client.invoke(`${SERVICE}Say`, { LONG }).message.LONG === LONG,
  'too large': () => client.invoke(`${SERVICE}Say`, { LONG: LONG.repeat(100) }).status === 8,
  metadata: () => {
    const metadata = { 'x-a': 'one', 'x-b-bin': new Uint8Array([0xab, 0xab]) };
    const { headers, trailers } = client.invoke(`${SERVICE}Say`, {}, { metadata });
    return headers['x-a'][0] === 'one' && trailers['x-a'][0] === 'one' && trailers['x-b-bin'].length === 1;
  },
  error: () => {
    const { status, error } = client.invoke(`${SERVICE}Fail`, 5);
    return status === 5 && error.code === 5 && error.message === 'as asked: ü' && error.details[0].value === 'why';
  },
  'every code': () => [...Array(16).keys()].every((at) => client.invoke(`${SERVICE}Fail`, at + 1).status === at + 1),
  deadline: () => client.invoke(`${SERVICE}Wait`, 2000, { timeout: '100ms' }).status === 4,
  'no such method': () => client.invoke(`${SERVICE}Missing`, {}).status === 12,
  'messages of the server': async () => {
    const { data, error } = await listen('Count', (stream) => stream.write(50));
    return error === null && data.length === 50 && data[49] === '50';
  },
  'an error behind messages': async () => {
    const { data, error } = await listen('Count', (stream) => stream.write(101));
    return data.length === 100 && error.code === 11 && error.message === 'no more than 100';
  },
  'messages of the client': async () => {
    const { data } = await listen('Sum', (stream) => {
      [1, 2, 39].forEach((number) => stream.write(number));
      stream.end();
    });
    return data.length === 1 && data[0] === '42';
  },
  'messages both ways': async () => {
    const talk = () => listen('Chat', (stream) => stream.write('0'), (stream, count) => {
      if (count < 3) stream.write(String(count));
      else stream.end();
    });
    if (client.isHttp1) {
      try {
        await talk();
        return false;
      } catch (error) {
        return error.message.includes('need HTTP/2');
      }
    }
    return (await talk()).data.join() === '0,1,2';
  },
};

/** What a case says: whether it holds, and what it threw. */
async function holds(run) {
  try {
    return await run();
  } catch (error) {
    console.error(error);
    return false;
  }
}

export default async function () {
  for (const codec of ['proto', 'json']) {
    for (const httpVersion of ['1.1', '2']) {
      const tls = isTls && httpVersion === '2' ? { cacerts } : undefined;
      client.connect(__ENV.ADDRESS, { plaintext: !isTls, protocol: 'connect', codec, httpVersion, tls });
      client.isHttp1 = httpVersion === '1.1';
      for (const [name, action] of Object.entries(cases)) {
        const held = await holds(action);
        check(null, { [`${name}, ${codec}, HTTP/${httpVersion}`]: () => held });
      }
      client.close();
    }
  }
}

/** One line a case. */
export function handleSummary({ root_group: { checks } }) {
  const lines = checks.map(({ name, fails }) => `${fails === 0 ? 'ok    ' : 'FAILED'} ${name}\n`);
  return { stdout: lines.join('') };
}
