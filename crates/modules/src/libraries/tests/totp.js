// The examples of RFC 6238, appendix B, for SHA-1, and what k6's file makes of odd secrets.
import { check } from 'k6';
import { TOTP } from 'https://jslib.k6.io/totp/1.0.0/index.js';

export const options = { thresholds: { checks: ['rate==1'] } };

async function at(seconds, run) {
  const { now } = Date;
  Date.now = () => seconds * 1000;
  try {
    return await run();
  } finally {
    Date.now = now;
  }
}

const rejected = (promise) => promise.then(() => false, () => true);

export default async function () {
  // "12345678901234567890"
  const totp = new TOTP('GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ', 8);
  const known = [[59, '94287082'], [1111111109, '07081804'], [1234567890, '89005924'], [20000000000, '65353130']];
  for (const [seconds, password] of known) {
    check(await at(seconds, () => totp.gen()), { [`at ${seconds}`]: (found) => found === password });
  }
  check(await at(118, () => totp.gen(60)), { 'another step': (found) => found === '94287082' });
  check(await at(69, () => totp.gen(30, 10)), { 'a skewed clock': (found) => found === '94287082' });
  check(await at(59, () => totp.verify('94287082')), { 'the password of now': (held) => held === true });
  check(await at(119, () => totp.verify('94287082')), { 'an old password': (held) => held === false });
  check(await at(59, () => new TOTP('gezdgnbvgy3tqojqgezdgnbvgy3tqojq').gen()), { 'small letters, six digits': (found) => found === '287082' });
  check(await rejected(new TOTP('').gen()), { 'no secret': (held) => held });
  check(new TOTP('a', 7), { 'what it keeps': ({ key, digits }) => key === 'a' && digits === 7 });
}
