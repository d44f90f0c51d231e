// Random values of k6-utils. They draw from Math.random in k6's order, so that a script that seeds it gets k6's values.

const draw = (below) => Math.floor(Math.random() * below);

/** A UUID of version 4: a draw for each hexadecimal digit. */
function fastUuid() {
  let uuid = '';
  for (let at = 0; at < 36; at += 1) {
    if (at === 8 || at === 13 || at === 18 || at === 23) uuid += '-';
    else if (at === 14) uuid += '4';
    else if (at === 19) uuid += (8 + (draw(16) % 4)).toString(16);
    else uuid += draw(16).toString(16);
  }
  return uuid;
}

/** A whole number from `min` to `max`, both included. */
function randomIntBetween(min, max) {
  const size = max - min + 1;
  return Math.floor(Math.random() * size + min);
}

/** One of the array's items. */
function randomItem(array) {
  const { length } = array;
  return array[draw(length)];
}

const LETTERS = 'abcdefghijklmnopqrstuvwxyz';

/** So many characters of `charset`, which versions before 1.2.0 pass over. Refuses lengths at which k6's loop never ends. */
function randomString(length, given = LETTERS) {
  const charset = VERSION < 2 ? LETTERS : given;
  const wanted = Number(length);
  if (wanted < 0 || (wanted > 0 && !Number.isInteger(wanted))) {
    throw new RangeError(`randomString: the length is ${length}, expected a whole number from 0`);
  }
  let text = '';
  for (let left = wanted; left > 0; left -= 1) text += charset[Math.trunc(Math.random() * charset.length) || 0];
  return text;
}
