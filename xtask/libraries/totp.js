// Calls of totp, at a clock of the driver.
const secret = () => (chance(0.85) ? word('ABCDEFGHIJKLMNOPQRSTUVWXYZ234567abc', 40) : pick([any(), `${word('ABCDEF', 8)}===`, '0189', 'A B C']));

function frozen(now, run) {
  const { now: before } = Date;
  Date.now = () => now;
  try {
    return run();
  } finally {
    Date.now = before;
  }
}

// Numbers of digits that make k6's engine panic are left out.
const options_ = () => (chance(0.5) ? [] : [chance(0.8) ? below(12) : pick([undefined, null, '6', 2.5, -1, NaN, true, {}])]);
const steps = () => (chance(0.5) ? [] : [chance(0.8) ? 1 + below(90) : any(), ...(chance(0.5) ? [] : [chance(0.8) ? below(100) : any()])]);

function calls() {
  return {
    TOTP: { make: () => [secret(), ...options_()], run: (...args) => ({ ...new subject.TOTP(...args) }) },
    'TOTP gen': {
      make: () => [below(2 ** 41), [secret(), ...options_()], steps()],
      run: (now, args, gen) => frozen(now, () => new subject.TOTP(...args).gen(...gen)),
    },
    'TOTP verify': {
      make: () => [below(2 ** 41), [secret(), ...options_()], steps()],
      run: async (now, args, gen) => {
        const totp = new subject.TOTP(...args);
        const password = await frozen(now, () => totp.gen(...gen));
        return [await frozen(now, () => totp.verify(password, ...gen)), await frozen(now, () => totp.verify('000000')), await frozen(now, () => totp.verify(Number(password)))];
      },
    },
  };
}
