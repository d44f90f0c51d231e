import { Client } from 'k6/net/grpc';

const client = new Client();
const request = { aString: 'hello', anInt32: 7 };
let isConnected = false;

export default function () {
  if (!isConnected) {
    client.connect(__ENV.URL.replace(/^http:\/\/|\/$/g, ''), { plaintext: true, reflect: true });
    isConnected = true;
  }
  client.invoke('onrush.test.v1.Target/Echo', request);
}
