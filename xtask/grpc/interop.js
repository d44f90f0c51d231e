// The cases of gRPC's list for interoperability that a script can ask for, each a check, against gRPC for Go. What does not apply:
// client_compressed_* (k6's client compresses no request), cancel_* (k6's Stream cannot be cancelled), and what is about Google's
// credentials, load balancing or long runs.
import { check } from 'k6';
import { Client, Stream, StatusOK, StatusUnknown, StatusDeadlineExceeded, StatusUnimplemented } from 'k6/net/grpc';

const SERVICE = 'grpc.testing.TestService/';
const isTls = __ENV.CERTIFICATES !== '';
const read = (name) => (isTls ? open(`${__ENV.CERTIFICATES}/${name}`) : undefined);
const tls = { cacerts: read('ca.pem'), cert: read('client.pem'), key: read('client.key') };
const client = new Client();

export const options = { thresholds: { checks: ['rate==1'] } };

/** So many zero bytes in base64. */
function zeros(count) {
  return 'AAAA'.repeat(Math.floor(count / 3)) + ['', 'AA==', 'AAA='][count % 3];
}

const LARGE = { responseSize: 314159, payload: { body: zeros(271828) } };
const isLarge = (response) => response.status === StatusOK && response.message.payload.body === zeros(314159);
const sizes = (heard) => heard.data.map((message) => message.payload.body.length).join();

/** Everything that a stream says. `start` and `onData` write. */
function listen(method, params, start, onData) {
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

const unary = {
  empty_unary: () => {
    const response = client.invoke(`${SERVICE}EmptyCall`, {});
    return response.status === StatusOK && JSON.stringify(response.message) === '{}';
  },
  large_unary: () => isLarge(client.invoke(`${SERVICE}UnaryCall`, LARGE)),
  server_compressed_unary: () =>
    isLarge(client.invoke(`${SERVICE}UnaryCall`, LARGE, { metadata: { 'x-compress': 'gzip' } })),
  custom_metadata: () => {
    const metadata = {
      'x-grpc-test-echo-initial': 'test_initial_metadata_value',
      'x-grpc-test-echo-trailing-bin': new Uint8Array([0xab, 0xab, 0xab]),
    };
    const response = client.invoke(`${SERVICE}UnaryCall`, LARGE, { metadata });
    return isLarge(response) && response.trailers['x-grpc-test-echo-trailing-bin'].length === 1 &&
      response.headers['x-grpc-test-echo-initial'][0] === 'test_initial_metadata_value';
  },
  status_code_and_message: () => {
    const response = client.invoke(`${SERVICE}UnaryCall`, { responseStatus: { code: 2, message: 'test status message' } });
    return response.status === StatusUnknown && response.error.message === 'test status message';
  },
  special_status_message: () => {
    const message = '\t\ntest with whitespace\r\nand Unicode BMP ☺ and non-BMP 😈\t\n';
    const response = client.invoke(`${SERVICE}UnaryCall`, { responseStatus: { code: 2, message } });
    return response.status === StatusUnknown && response.error.message === message;
  },
  unimplemented_method: () => client.invoke(`${SERVICE}UnimplementedCall`, {}).status === StatusUnimplemented,
  unimplemented_service: () =>
    client.invoke('grpc.testing.UnimplementedService/UnimplementedCall', {}).status === StatusUnimplemented,
  'a server without reflection': () => {
    try {
      return new Client().connect(__ENV.MUTE, { plaintext: true, reflect: true }) === undefined;
    } catch (error) {
      return /^can't list services: rpc error: code = Unimplemented desc = unknown service grpc\.reflection/.test(error.message);
    }
  },
  health: () => client.healthCheck('up').status === 1 && client.healthCheck('down').status === 2,
};

const ASKED = [[27182, 31415], [8, 9], [1828, 2653], [45904, 58979]];
const ANSWERED = ASKED.map(([, size]) => zeros(size).length).join();
const ask = (stream, index) =>
  stream.write({ responseParameters: [{ size: ASKED[index][1] }], payload: { body: zeros(ASKED[index][0]) } });
const askForAll = (stream) => stream.write({ responseParameters: ASKED.map(([, size]) => ({ size })) });

const streams = {
  client_streaming: async () => {
    const heard = await listen('StreamingInputCall', {}, (stream) => {
      for (const [size] of ASKED) stream.write({ payload: { body: zeros(size) } });
      stream.end();
    });
    return heard.error === null && heard.data.length === 1 && heard.data[0].aggregatedPayloadSize === 74922;
  },
  server_streaming: async () => {
    const heard = await listen('StreamingOutputCall', {}, askForAll);
    return heard.error === null && sizes(heard) === ANSWERED;
  },
  server_compressed_streaming: async () => {
    const heard = await listen('StreamingOutputCall', { metadata: { 'x-compress': 'gzip' } }, askForAll);
    return heard.error === null && sizes(heard) === ANSWERED;
  },
  ping_pong: async () => {
    const heard = await listen('FullDuplexCall', {}, (stream) => ask(stream, 0), (stream, count) =>
      count < ASKED.length ? ask(stream, count) : stream.end());
    return heard.error === null && sizes(heard) === ANSWERED;
  },
  empty_stream: async () => {
    const heard = await listen('FullDuplexCall', {}, (stream) => stream.end());
    return heard.error === null && heard.data.length === 0;
  },
  'status_code_and_message (stream)': async () => {
    const heard = await listen('FullDuplexCall', {}, (stream) => {
      stream.write({ responseStatus: { code: 2, message: 'test status message' } });
      stream.end();
    });
    return heard.error.code === StatusUnknown && heard.error.message === 'test status message';
  },
  timeout_on_sleeping_server: async () => {
    const heard = await listen('FullDuplexCall', { timeout: 1 }, (stream) =>
      stream.write({ payload: { body: zeros(27182) }, responseParameters: [{ size: 31415, intervalUs: 500000 }] }));
    return heard.error.code === StatusDeadlineExceeded;
  },
  concurrent_large_unary: async () => {
    const calls = Array.from({ length: 150 }, () => client.asyncInvoke(`${SERVICE}UnaryCall`, LARGE));
    return (await Promise.all(calls)).every(isLarge);
  },
  'concurrent streams': async () => {
    const heard = await Promise.all(Array.from({ length: 150 }, (_, index) =>
      listen('FullDuplexCall', {}, (stream) => ask(stream, index % ASKED.length), (stream) => stream.end())));
    return heard.every(({ error, data }) => error === null && data.length === 1);
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
  client.connect(__ENV.ADDRESS, isTls ? { reflect: true, tls } : { plaintext: true, reflect: true });
  for (const [name, run] of Object.entries({ ...unary, ...streams })) {
    const held = await holds(run);
    check(null, { [name]: () => held });
  }
  client.close();
}

/** One line a case. */
export function handleSummary({ root_group: { checks } }) {
  const lines = checks.map(({ name, fails }) => `${fails === 0 ? 'ok    ' : 'FAILED'} ${name}\n`);
  return { stdout: lines.join('') };
}
