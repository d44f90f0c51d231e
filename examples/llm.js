// How fast does a chat endpoint answer, and how evenly? The time to the first token, the gaps between tokens and the tokens a second
// of each answer are metrics, so thresholds can be set on them.
//
//   onrush run --serve examples/llm.js                                   against the target beside it
//   onrush run -e URL=https://host/v1/chat/completions -e KEY=… examples/llm.js
// parity: skip k6 has no onEvent and no endpoint of this kind
import http from 'k6/http';
import { check } from 'k6';
import { Trend } from 'k6/metrics';

const url = __ENV.URL || `${__ENV.TARGET}/v1/chat/completions?first=80ms&gap=10ms`;
const headers = { 'Content-Type': 'application/json', Authorization: `Bearer ${__ENV.KEY || 'none'}` };
const tokenRate = new Trend('tokens_per_second');

export const options = {
  vus: 5,
  duration: __ENV.DURATION || '10s',
  thresholds: {
    checks: ['rate==1'],
    sse_first_event: ['p(95)<2000'],
    tokens_per_second: ['med>10'],
  },
};

export default function () {
  const body = JSON.stringify({
    model: __ENV.MODEL || 'onrush',
    messages: [{ role: 'user', content: 'What is load?' }],
    max_tokens: 20,
    stream: true,
  });
  let tokens = 0;
  let text = '';
  let first = 0;
  let last = 0;
  const answer = http.post(url, body, {
    headers,
    onEvent: (event) => {
      if (event.data === '[DONE]') return false;
      const piece = JSON.parse(event.data).choices[0]?.delta?.content;
      if (!piece) return true;
      first ||= event.at;
      last = event.at;
      tokens++;
      text += piece;
      return true;
    },
  });
  check(answer, {
    'status is 200': (r) => r.status === 200,
    'tokens came': () => tokens > 1 && text.length > 0,
  });
  if (last > first) tokenRate.add(((tokens - 1) / (last - first)) * 1000);
}
