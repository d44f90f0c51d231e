// Calls and a stream of gRPC. The server describes its methods itself (reflection); without that, load a .proto file.
//
//   onrush run --serve examples/grpc.js                        against the target beside it
//   onrush run -e ADDRESS=host:443 examples/grpc.js            against another server of this service, over TLS
// parity: skip k6 has no target of this kind
import { check } from 'k6';
import grpc, { Client, Stream } from 'k6/net/grpc';

const address = __ENV.ADDRESS || __ENV.TARGET.replace(/^http:\/\//, '').replace(/\/$/, '');
const client = new Client();

export const options = {
  vus: 5,
  duration: __ENV.DURATION || '10s',
  thresholds: { checks: ['rate==1'], 'grpc_req_duration{method:Echo}': ['p(95)<2000'] },
};

export default async function () {
  if (__ITER === 0) client.connect(address, { plaintext: !__ENV.ADDRESS, reflect: true });

  const response = client.invoke('onrush.test.v1.Target/Echo', { aString: 'hello', numbers: [1, 2, 3] });
  check(response, { 'the same message': (r) => r.status === grpc.StatusOK && r.message.aString === 'hello' });

  const ticks = await new Promise((resolve, reject) => {
    let count = 0;
    const stream = new Stream(client, 'onrush.test.v1.Target/Count');
    stream.on('data', () => count++);
    stream.on('error', (error) => reject(new Error(error.message)));
    stream.on('end', () => resolve(count));
    stream.write({ count: 5, intervalMs: 10 });
  });
  check(ticks, { 'five ticks': (n) => n === 5 });
}
