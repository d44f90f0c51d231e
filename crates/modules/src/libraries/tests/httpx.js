// What httpx hands to k6/http, and what it remembers.
import { check } from 'k6';
import http from 'k6/http';
import { Rate } from 'k6/metrics';
import { Get, Httpx, Request } from 'https://jslib.k6.io/httpx/0.1.0/index.js';
import * as first from 'https://jslib.k6.io/httpx/0.0.1/index.js';

export const options = { thresholds: { checks: ['rate==1'], own_errors: ['rate>0.3', 'rate<0.4'] } };
const errors = new Rate('own_errors');

let sent;
http.request = (...args) => {
  sent = JSON.stringify(args);
  return { status: args[1].includes('missing') ? 404 : 200 };
};
http.batch = (list) => {
  sent = JSON.stringify(list);
  return ['answers'];
};

export default function () {
  const given = { baseURL: 'http://h.test', headers: { a: '1' }, errorMetric: errors, timeout: 5 };
  const session = new Httpx(given);
  check(null, {
    'before a request': () => session.lastRequest.responseObject === null && session.lastRequestChainDuration === null,
    'options that are no params are taken out': () => Object.keys(given).join() === 'timeout',
    'a request': () => session.get('/x', null, { tags: { t: 'u' } }).status === 200 &&
      sent === '["GET","http://h.test/x",null,{"headers":{"a":"1"},"tags":{"t":"u"},"timeout":5}]',
    'what is remembered': () => session.lastRequest.responseObject.status === 200 && session.lastRequestChainDuration >= 0,
    'the error metric': () => session.post('/missing').status === 404,
    'a batch': () => session.batch([new Get('/1', { body: 'b' }), ['PUT', '/2', 'two'], { url: '/3' }])[0] === 'answers' && sent ===
      '[["GET","http://h.test/1","b",{"headers":{"a":"1"},"tags":{},"timeout":5}],["PUT","http://h.test/2","two",{"headers":{"a":"1"},"tags":{},"timeout":5}]]',
    'a request of one\'s own': () => session.execute(new Request('PUT', '/y').addHeader('h', 'v')).status === 200 && sent.includes('"h":"v"'),
    'an unknown method': () => {
      try {
        return session.request('FOO', '/') === undefined;
      } catch (error) {
        return error.message === 'Invalid method: FOO. Expected one of GET,HEAD,POST,PUT,DELETE,CONNECT,OPTIONS,TRACE,PATCH';
      }
    },
    'the first version': () => {
      const old = new first.Httpx({ baseURL: 'http://h.test', otherParams: { redirects: 1 } });
      old.get('/x');
      return sent === '["GET","http://h.test/x",null,{"headers":{},"tags":{},"redirects":1}]' && old.lastRequest === undefined && old.head === undefined;
    },
  });
}
