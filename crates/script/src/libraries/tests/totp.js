// The examples of RFC 6238, appendix B, for SHA-1.
import { check } from 'k6';
import { TOTP } from 'https://jslib.k6.io/totp/1.0.0/index.js';

export const options = { thresholds: { checks: ['rate==1'] } };

export default async function () {
  // "12345678901234567890"
  const totp = new TOTP('GEZDGNBVGY3TQOJQ GEZDGNBVGY3TQOJQ', 8);
  const known = [[59, '94287082'], [1111111109, '07081804'], [1234567890, '89005924'], [20000000000, '65353130']];
  for (const [seconds, password] of known) {
    check(await totp.gen(Math.floor(seconds / 30)), { [`at ${seconds}`]: (found) => found === password });
  }
  const now = await new TOTP('gezdgnbvgy3tqojq').gen();
  check(await new TOTP('gezdgnbvgy3tqojq').verify(now), { 'the password of now': (held) => held === true });
  check(await totp.verify('00000000x'), { 'no password': (held) => held === false });
  check(null, {
    'no secret': () => {
      try {
        return new TOTP('1') === undefined;
      } catch (error) {
        return /base32/.test(error.message);
      }
    },
  });
}
