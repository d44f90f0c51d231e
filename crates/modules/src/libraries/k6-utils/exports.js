// What the later versions export.
const { randomBytes } = require('k6/crypto');

/** A UUID of version 4. `secure`: of random bytes fit for cryptography. */
function uuidv4(secure = false) {
  // 1.3.0 has no secure ones.
  if (!secure || VERSION < 4) return fastUuid();
  const bytes = new Uint8Array(randomBytes(16));
  bytes[6] = 0x40 + (bytes[6] % 0x10);
  bytes[8] = 0x80 + (bytes[8] % 0x40);
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

/** As `checkAll`; a promise as the value is waited for from 1.6.0 on. */
function check(value, conditions, tags) {
  const waits = VERSION >= 6 && value instanceof Promise;
  return waits ? value.then((resolved) => check(resolved, conditions, tags)) : checkAll(value, conditions, tags);
}

Object.assign(exports, { findBetween, getCurrentStageIndex, normalDistributionStages, parseDuration, randomIntBetween, randomItem });
Object.assign(exports, { randomString, tagWithCurrentStageIndex, tagWithCurrentStageProfile, uuidv4 });
if (VERSION >= 5) exports.check = check;
