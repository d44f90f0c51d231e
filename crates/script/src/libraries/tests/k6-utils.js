// What k6-utils promises.
import { check } from 'k6';
import * as utils from 'https://jslib.k6.io/k6-utils/1.4.0/index.js';

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
    'nothing between': () => utils.findBetween('<a>', '<b>', '</b>') === '',
    'durations': () => [['1d5h31m20s7ms', 106280007], ['30s', 30000], ['1500', 1500], ['0.5h', 1800000]].every(
      ([text, ms]) => utils.parseDuration(text) === ms),
    'no duration': () => {
      try {
        return utils.parseDuration('5 parsecs') === undefined;
      } catch (error) {
        return /5 parsecs/.test(error.message);
      }
    },
    'the bell curve': () => {
      const stages = utils.normalDistributionStages(100, 60, 5);
      const targets = stages.map((stage) => stage.target);
      return targets[0] === 0 && targets.at(-1) === 0 && Math.max(...targets) === 100 && targets[3] === 100 &&
        targets[1] === targets[5];
    },
    'stages are for scenarios that have some': () => {
      try {
        return utils.getCurrentStageIndex() === undefined;
      } catch (error) {
        return /stages/.test(error.message);
      }
    },
  });
  check(utils.check(3, { 'an ordinary check': (n) => n === 3 }), { 'its result': (result) => result === true });
  const result = utils.check(Promise.resolve(4), { 'a check of a promise': async (n) => n === 4, 'and of its value': (n) => n > 3 });
  check(await result, { 'the result of a promise': (held) => held === true });
}
