// k6-utils: what scripts import from https://jslib.k6.io/k6-utils/VERSION/index.js.
import { check as checkNow } from 'k6';
import crypto from 'k6/crypto';
import exec from 'k6/execution';

/** As the built-in `check`; where the value or a condition is a promise, a promise of its result. */
export function check(value, conditions, tags) {
  if (isThenable(value)) return value.then((resolved) => check(resolved, conditions, tags));
  const waiting = [];
  const known = {};
  for (const [name, condition] of Object.entries(conditions)) {
    const outcome = typeof condition === 'function' ? condition(value) : condition;
    if (isThenable(outcome)) waiting.push(outcome.then((resolved) => [name, resolved]));
    else known[name] = outcome;
  }
  const all = Object.keys(known).length > 0 ? checkNow(value, known, tags) : true;
  if (waiting.length === 0) return all;
  return Promise.all(waiting).then((resolved) => checkNow(value, Object.fromEntries(resolved), tags) && all);
}

function isThenable(value) {
  return value !== null && typeof value === 'object' && typeof value.then === 'function';
}

/** A whole number from `min` to `max`, both included. */
export function randomIntBetween(min, max) {
  return Math.floor(Math.random() * (max - min + 1) + min);
}

/** One of the array's items. */
export function randomItem(array) {
  return array[Math.floor(Math.random() * array.length)];
}

/** A text of so many characters of `charset`. */
export function randomString(length, charset = 'abcdefghijklmnopqrstuvwxyz') {
  let text = '';
  for (let at = 0; at < length; at += 1) text += charset[Math.floor(Math.random() * charset.length)];
  return text;
}

/** A UUID of version 4. `secure`: of random bytes fit for cryptography. */
export function uuidv4(secure = false) {
  const bytes = secure
    ? new Uint8Array(crypto.randomBytes(16))
    : Uint8Array.from({ length: 16 }, () => Math.floor(Math.random() * 256));
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

/** What stands between two texts: the first place, or with `repeat` an array of all. Nothing found: '' or []. */
export function findBetween(content, left, right, repeat = false) {
  const found = [];
  let from = 0;
  for (;;) {
    const start = content.indexOf(left, from);
    if (start < 0) break;
    const end = content.indexOf(right, start + left.length);
    if (end < 0) break;
    found.push(content.slice(start + left.length, end));
    if (!repeat) return found[0];
    from = end + right.length;
  }
  return repeat ? found : '';
}

/** Stages whose targets rise and fall like the bell curve, from 0 over `maxVus` to 0, `durationSeconds` in all. */
export function normalDistributionStages(maxVus, durationSeconds, numberOfStages = 10) {
  const count = Math.max(1, Math.floor(numberOfStages));
  const middle = (count - 1) / 2;
  // Three standard deviations to either side.
  const bell = (at) => Math.exp(-(((at - middle) / (count / 6)) ** 2) / 2);
  const duration = `${Math.max(1, Math.round(durationSeconds / (count + 1)))}s`;
  const stages = [{ duration: '0s', target: 0 }];
  for (let at = 0; at < count; at += 1) {
    stages.push({ duration, target: Math.round(maxVus * bell(at)) });
  }
  stages.push({ duration, target: 0 });
  return stages;
}

/** Milliseconds of a duration such as '1d5h31m20s7ms' or '1500', which is in milliseconds. */
export function parseDuration(text) {
  if (typeof text !== 'string' || text === '') {
    throw new Error(`cannot read the duration ${JSON.stringify(text)}: expected a text such as '1m30s'`);
  }
  if (/^\d+(\.\d+)?$/.test(text)) return parseFloat(text);
  const units = { d: 86400000, h: 3600000, m: 60000, s: 1000, ms: 1 };
  let total = 0;
  let rest = text;
  while (rest !== '') {
    const part = /^(\d+(?:\.\d+)?)(ms|d|h|m|s)/.exec(rest);
    if (part === null) {
      throw new Error(`cannot read the duration ${JSON.stringify(text)} from ${JSON.stringify(rest)} on: expected a number ` +
        'and one of d, h, m, s, ms');
    }
    total += parseFloat(part[1]) * units[part[2]];
    rest = rest.slice(part[0].length);
  }
  return total;
}

function currentStages() {
  const scenario = exec.test.options.scenarios?.[exec.scenario.name];
  if (scenario === undefined) {
    throw new Error(`the test's options have no scenario named ${exec.scenario.name}`);
  }
  const stages = scenario.stages;
  if (stages === undefined || stages === null || stages.length === 0) {
    throw new Error(`the scenario ${exec.scenario.name} has no stages: only ramping-vus and ramping-arrival-rate have`);
  }
  return { scenario, stages };
}

/** The number of the stage that the scenario is in, from 0; the last one's when its time is over. */
export function getCurrentStageIndex() {
  const { stages } = currentStages();
  const elapsed = Date.now() - exec.scenario.startTime;
  let end = 0;
  for (let at = 0; at < stages.length; at += 1) {
    end += parseDuration(stages[at].duration);
    if (elapsed < end) return at;
  }
  return stages.length - 1;
}

/** Sets the tag `stage` of the user to the number of the scenario's stage. */
export function tagWithCurrentStageIndex() {
  exec.vu.metrics.tags.stage = String(getCurrentStageIndex());
}

/** Sets the tag `stage_profile` of the user to 'ramp-up', 'ramp-down' or 'steady'. */
export function tagWithCurrentStageProfile() {
  const { scenario, stages } = currentStages();
  const at = getCurrentStageIndex();
  const before = at === 0 ? (scenario.startVUs ?? scenario.startRate ?? 0) : stages[at - 1].target;
  const profile = stages[at].target > before ? 'ramp-up' : 'ramp-down';
  exec.vu.metrics.tags.stage_profile = stages[at].target === before ? 'steady' : profile;
}
