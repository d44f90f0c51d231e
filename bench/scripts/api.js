// A client that works for each request: builds a body, signs it, sends it, and reads what came back. The server has next to
// nothing to do meanwhile.
import http from 'k6/http';
import crypto from 'k6/crypto';
import { closed, handleSummary } from './summary.js';

export const options = closed();
export { handleSummary };

const order = { customer: 'c-1', items: [] };
for (let i = 0; i < 200; i++) order.items.push({ id: i, name: `article ${i}`, price: i * 1.25, tags: ['a', 'b', 'c'] });
const stock = JSON.stringify(order);

export default function () {
  const read = JSON.parse(stock);
  for (const item of read.items) item.price *= 1.1;
  const body = JSON.stringify(read);
  http.get(__ENV.URL, { headers: { 'X-Signature': crypto.hmac('sha256', 'secret', body, 'hex') } });
}
