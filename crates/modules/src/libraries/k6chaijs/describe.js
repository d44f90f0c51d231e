// Cases, and what the library exports.
const { group } = require('k6');

/** Runs a case as a group: false when an assertion did not hold or something was thrown, which is a check too. */
function describe(name, run) {
  let passed = true;
  group(name, () => {
    try {
      run();
    } catch (error) {
      passed = false;
      if (error.name === 'AssertionError') return;
      console.error(`Exception raised in test "${name}". Failing the test and continuing. \n${error}`);
      check(null, { [`Exception raised "${error}"`]: () => false });
    }
  });
  return passed;
}

// The first versions have no default.
const names = VERSION < 42 ? { chai } : { default: chai };
module.exports = Object.defineProperty({ ...names, describe, expect: chai.expect }, '__esModule', { value: true });
