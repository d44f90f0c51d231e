// Durations, and the stage that the scenario is in.
const exec = require('k6/execution');

// In the order in which k6 multiplies: fractions show it.
const UNITS = { d: [24, 60, 60, 1000], h: [60, 60, 1000], m: [60, 1000], s: [1000] };
const isNumeric = (letter) => (letter >= '0' && letter <= '9') || letter === '.';

/** Milliseconds of a text such as '1d5h31m20s7ms'; a number without a unit is in milliseconds. */
function parseDuration(text) {
  if (text === undefined || text === null || text.length < 1) throw new Error('str is empty');
  const seen = new Set();
  let total = 0;
  let at = 0;
  while (at < text.length) {
    let number = '';
    // A letter in front of a number means nothing, as in k6.
    if (!isNumeric(text[at])) at += 1;
    for (; at < text.length && isNumeric(text[at]); at += 1) number += text[at];
    const value = parseFloat(number);
    if (text[at] === undefined || text[at] === null) return number === '' ? total : total + value;
    const unit = text[at] === 'm' && text[at + 1] === 's' ? 'ms' : text[at];
    if (unit === 'ms') total += Math.trunc(value);
    else if (Object.hasOwn(UNITS, unit)) total += UNITS[unit].reduce((product, factor) => product * factor, value);
    else throw new Error(`${unit} is an unsupported time unit`);
    if (seen.has(unit)) throw new Error(`${unit} time unit is provided multiple times`);
    seen.add(unit);
    at += unit.length;
  }
  return total;
}

function currentStages() {
  const { name } = exec.scenario;
  const scenario = exec.test.options.scenarios[name];
  if (scenario === undefined || scenario === null) throw new Error(`the test's options have no scenario named ${name}`);
  const { stages } = scenario;
  if (stages === undefined || stages === null) {
    throw new Error(`the scenario ${name} has no stages: only ramping-vus and ramping-arrival-rate have`);
  }
  if (stages.length === 0) throw new Error(`the list of stages of the scenario ${name} is empty`);
  return stages;
}

function stageAt(stages) {
  const elapsed = new Date() - exec.scenario.startTime;
  let end = 0;
  const at = stages.findIndex(({ duration }) => {
    end += parseDuration(duration);
    return elapsed < end;
  });
  return at === -1 ? stages.length - 1 : at;
}

/** The number of the stage that the scenario is in, from 0; the last one's when its time is over. */
function getCurrentStageIndex() {
  return stageAt(currentStages());
}

/** Sets the tag `stage` of the user to the number of the scenario's stage. */
function tagWithCurrentStageIndex() {
  exec.vu.tags.stage = getCurrentStageIndex();
}

/** Sets the tag `stage_profile` of the user to 'ramp-up', 'ramp-down' or 'steady'. The first stage is always a ramp-up. */
function tagWithCurrentStageProfile() {
  const stages = currentStages();
  const at = stageAt(stages);
  const rise = at === 0 ? 1 : stages[at].target - stages[at - 1].target;
  if (rise > 0) exec.vu.tags.stage_profile = 'ramp-up';
  else exec.vu.tags.stage_profile = rise === 0 ? 'steady' : 'ramp-down';
}
