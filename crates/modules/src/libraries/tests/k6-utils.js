// What k6-utils promises.
import { check } from 'k6';
import * as utils from 'https://jslib.k6.io/k6-utils/1.4.0/index.js';
import * as older from 'https://jslib.k6.io/k6-utils/1.1.0/index.js';
import * as latest from 'https://jslib.k6.io/k6-utils/1.6.0/index.js';

export const options = { thresholds: { checks: ['rate==1'] } };

const many = (make) => Array.from({ length: 300 }, make);

export default async function () {
  check(null, {
    'whole numbers between two, both included': () => new Set(many(() => utils.randomIntBetween(3, 5))).size === 3,
    'nothing outside': () => many(() => utils.randomIntBetween(3, 5)).every((n) => n >= 3 && n <= 5),
    'one of the items': () => many(() => utils.randomItem(['a', 'b'])).every((item) => 'ab'.includes(item)),
    'a text of a charset': () => /^[xy]{12}$/.test(utils.randomString(12, 'xy')),
    'a text of letters': () => /^[a-z]{5}$/.test(utils.randomString(5)),
    'UUIDs': () => [utils.uuidv4(), utils.uuidv4(true)].every((id) =>
      /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(id)),
    'two UUIDs differ': () => utils.uuidv4() !== utils.uuidv4(),
    'what is between': () => utils.findBetween('<a>1</a><a>2</a>', '<a>', '</a>') === '1',
    'all that is between': () => utils.findBetween('<a>1</a><a>2</a>', '<a>', '</a>', true).join() === '1,2',
    'nothing between': () => utils.findBetween('<a>', '<b>', '</b>') === null && utils.findBetween('<a>', '<b>', '</b>', true) === null,
    'nothing between, in 1.1.0': () => older.findBetween('<a>', '<b>', '</b>') === '',
    'each version has its own names': () => !('normalDistributionStages' in older) && !('check' in utils) && 'check' in latest,
    'durations': () => [['1d5h31m20s7ms', 106280007], ['30s', 30000], ['1500', 1500], ['0.5h', 1800000]].every(
      ([text, ms]) => utils.parseDuration(text) === ms),
    'odd durations': () => [['5x', 'x is an unsupported time unit'], ['1s2s', 's time unit is provided multiple times'], ['', 'str is empty'], [5, 0], ['x5', 5],
      ['1.5ms', 1], ['5sm', 5000]].every(([text, expected]) => {
      try {
        return utils.parseDuration(text) === expected;
      } catch (error) {
        return error.message === expected;
      }
    }),
    'the bell curve': () => utils.normalDistributionStages(10, 10).map(({ duration, target }) => `${duration}:${target}`).join() ===
      '2s:1,1s:3,1s:5,1s:7,1s:9,1s:10,1s:9,1s:7,1s:5,1s:3,1s:1,2s:0',
    'drawn as k6 draws': () => {
      const { random } = Math;
      Math.random = () => 0.5;
      const drawn = [utils.uuidv4(), utils.randomString(3), utils.randomIntBetween(1, 4), utils.randomItem([1, 2, 3])].join();
      Math.random = random;
      return drawn === '88888888-8888-4888-8888-888888888888,nnn,3,2';
    },
    'stages are for scenarios that have some': () => {
      try {
        return utils.getCurrentStageIndex() === undefined;
      } catch (error) {
        return /stages/.test(error.message);
      }
    },
  });
  check(latest.check(3, { 'an ordinary check': (n) => n === 3 }), { 'its result': (result) => result === true });
  const result = latest.check(Promise.resolve(4), { 'a check of a promise': async (n) => n === 4, 'and of its value': (n) => n > 3 });
  check(await result, { 'the result of a promise': (held) => held === true });
}
