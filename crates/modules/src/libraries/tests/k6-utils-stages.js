// Which stage a scenario is in, at a clock of the test.
import exec from 'k6/execution';
import { check } from 'k6';
import { getCurrentStageIndex, tagWithCurrentStageIndex, tagWithCurrentStageProfile } from 'https://jslib.k6.io/k6-utils/1.4.0/index.js';

const stages = [['10ms', 1], ['60ms', 5], ['20ms', 2], ['60ms', 2]].map(([duration, target]) => ({ duration, target }));
export const options = {
  scenarios: { staged: { executor: 'ramping-vus', startVUs: 1, gracefulStop: '0s', stages } },
  thresholds: { checks: ['rate==1'] },
};

const RealDate = Date;

function at(elapsed) {
  const now = exec.scenario.startTime + elapsed;
  globalThis.Date = class extends RealDate {
    constructor(...args) {
      super(...(args.length > 0 ? args : [now]));
    }
  };
  tagWithCurrentStageIndex();
  tagWithCurrentStageProfile();
  const found = [getCurrentStageIndex(), exec.vu.tags.stage, exec.vu.tags.stage_profile].join();
  globalThis.Date = RealDate;
  return found;
}

export default function () {
  check(null, {
    'the first is a ramp-up': () => at(5) === '0,0,ramp-up',
    'up': () => at(10) === '1,1,ramp-up',
    'down': () => at(89) === '2,2,ramp-down',
    'steady': () => at(91) === '3,3,steady',
    'over': () => at(1000) === '3,3,steady',
  });
}
