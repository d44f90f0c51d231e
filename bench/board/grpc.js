// gRPC: a unary call that echoes a short message. The server describes its methods itself.
import { check } from 'k6';
import grpc, { Client } from 'k6/net/grpc';
import { closed, done } from './operation.js';

export const options = closed();

const client = new Client();

export default function () {
  if (__ITER === 0) client.connect(__ENV.BASE.replace('http://', ''), { plaintext: true, reflect: true });
  const began = Date.now();
  const response = client.invoke('onrush.test.v1.Target/Echo', { aString: 'hello' });
  const isFine = (r) => r.status === grpc.StatusOK && r.message.aString === 'hello';
  if (check(response, { 'the echo is right': isFine })) done(Date.now() - began);
}
