// How messages show values: in one line, cut to `config.truncateThreshold` characters.

const CUT = '…';
const ESCAPED = /['\u0000-\u001f\u007f-\u009f\u00ad\u0600-\u0604\u070f\u17b4\u17b5\u200c-\u200f\u2028-\u202f\u2060-\u206f\ufeff\ufff0-\uffff]/g;
const ESCAPES = { '\b': '\\b', '\t': '\\t', '\n': '\\n', '\f': '\\f', '\r': '\\r', "'": "\\'" };
const HIDDEN_OF_ERRORS = ['stack', 'line', 'column', 'name', 'message', 'fileName', 'lineNumber', 'columnNumber', 'number', 'description'];

/** At most `room` characters, the last of them the sign that something is missing. */
function fitted(value, room) {
  const text = String(value);
  if (text.length <= 1 || text.length <= room) return text;
  return room < 1 ? CUT : `${text.slice(0, room - 1)}${CUT}`;
}

/** Room is a number that what is shown takes from: `left` of the whole text, and the objects around the value. */
class Room {
  constructor(left) {
    this.left = left;
    this.around = [];
  }

  copy() {
    return Object.assign(new Room(this.left), { around: this.around });
  }

  take(characters) {
    this.left -= characters;
  }

  /** Items with commas, as many as there is room for, then how many are missing. */
  list(items, show) {
    const whole = this.left;
    let text = '';
    let next = '';
    for (let at = 0; at < items.length; at += 1) {
      const after = items.length - at - 1;
      const separator = after > 0 ? ', ' : '';
      this.left = whole - text.length - separator.length;
      const item = next || show(items[at], this) + separator;
      const length = text.length + item.length;
      const missing = `${CUT}(${after + 1})`;
      const isTight = length + missing.length > whole;
      if (after === 0 && length > whole && text.length + missing.length <= whole) return text + missing;
      if (after > 1 && isTight) return text + missing;
      next = after === 0 ? '' : show(items[at + 1], this) + (after > 1 ? ', ' : '');
      if (after === 1 && isTight && length + next.length > whole) return text + missing;
      text += item;
      if (after > 1 && length + next.length >= whole) return `${text}${CUT}(${after})`;
    }
    return text;
  }
}

function shownProperty([key, value], room) {
  room.take(2);
  let name = key;
  if (typeof key === 'symbol') name = `[${shown(key, room)}]`;
  else if (!/^[a-zA-Z_][a-zA-Z_0-9]*$/.test(key)) {
    name = `'${JSON.stringify(key).replace(/'/g, "\\'").replace(/\\"/g, '"').replace(/^"|"$/g, '')}'`;
  }
  room.take(name.length);
  return `${name}: ${shown(value, room)}`;
}

function shownString(text, room) {
  const escape = (letter) => ESCAPES[letter] ?? `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return `'${fitted(text.replace(ESCAPED, escape), room.left - 2)}'`;
}

function shownNumber(number, room) {
  if (number === 0) return Object.is(number, -0) ? '-0' : '+0';
  return Number.isFinite(number) ? fitted(number, room.left) : String(number);
}

function shownFunction(value, room) {
  return value.name ? `[Function ${fitted(value.name, room.left - 11)}]` : '[Function]';
}

function shownArray(array, room) {
  const others = Object.keys(array).slice(array.length);
  if (array.length === 0 && others.length === 0) return '[]';
  room.take(4);
  const items = room.list(array, shown);
  room.take(items.length);
  const properties = room.list(others.map((key) => [key, array[key]]), shownProperty);
  return `[ ${items}${properties && `, ${properties}`} ]`;
}

function shownBytes(array, room) {
  const name = array[Symbol.toStringTag];
  room.take(name.length + 4);
  const others = Object.keys(array).slice(array.length);
  if (array.length === 0 && others.length === 0) return `${name}[]`;
  let items = '';
  for (let at = 0; at < array.length; at += 1) {
    const item = `${fitted(array[at], room.left)}${at === array.length - 1 ? '' : ', '}`;
    room.take(item.length);
    // The count is of the value, not of its place, as in Chai.
    if (array[at] !== array.length && room.left <= 3) {
      items += `${CUT}(${array.length - array[at] + 1})`;
      break;
    }
    items += item;
  }
  const properties = room.list(others.map((key) => [key, array[key]]), shownProperty);
  return `${name}[ ${items}${properties && `, ${properties}`} ]`;
}

function shownMap(map, room) {
  // Chai shows a map of one entry as empty.
  if (map.size < 2) return 'Map{}';
  room.take(7);
  const entry = ([key, value]) => {
    room.take(4);
    const name = shown(key, room);
    room.take(name.length);
    return `${name} => ${shown(value, room)}`;
  };
  const entries = [];
  map.forEach((value, key) => entries.push([key, value]));
  return `Map{ ${room.list(entries, entry)} }`;
}

function shownSet(set, room) {
  if (set.size === 0) return 'Set{}';
  room.take(7);
  const values = [];
  set.forEach((value) => values.push(value));
  return `Set{ ${room.list(values, shown)} }`;
}

function shownDate(date, room) {
  const text = date.toJSON();
  if (text === null) return 'Invalid Date';
  const [day, time] = text.split('T');
  return `${day}T${fitted(time, room.left - day.length - 1)}`;
}

function shownRegExp(pattern, room) {
  const flags = pattern.toString().split('/')[2];
  return `/${fitted(pattern.source, room.left - (2 + flags.length))}/${flags}`;
}

function shownError(error, room) {
  const properties = Object.getOwnPropertyNames(error).filter((key) => !HIDDEN_OF_ERRORS.includes(key));
  const { name, message } = error;
  room.take(name.length);
  let said = '';
  if (typeof message === 'string') said = fitted(message, room.left);
  else properties.unshift('message');
  said = said && `: ${said}`;
  room.take(said.length + 5);
  const list = room.list(properties.map((key) => [key, error[key]]), shownProperty);
  return `${name}${said}${list && ` { ${list} }`}`;
}

function shownObject(object, room) {
  const names = Object.getOwnPropertyNames(object);
  const symbols = Object.getOwnPropertySymbols(object);
  if (names.length + symbols.length === 0) return '{}';
  room.take(4);
  if (room.around.includes(object)) return '[Circular]';
  room.around.push(object);
  const lists = [names, symbols].map((keys) => room.list(keys.map((key) => [key, object[key]]), shownProperty));
  room.around.pop();
  return `{ ${lists.filter(Boolean).join(', ')} }`;
}

function shownInstance(value, room) {
  const tag = Symbol.toStringTag in value ? value[Symbol.toStringTag] : '';
  let name = tag || getName(value.constructor);
  if (!name || name === '_class') name = '<Anonymous Class>';
  room.take(name.length);
  return `${name}${shownObject(value, room)}`;
}

const shownAsIs = (value) => String(value);
const SHOWN = {
  undefined: shownAsIs, null: shownAsIs, boolean: shownAsIs, Boolean: shownAsIs,
  number: shownNumber, Number: shownNumber, string: shownString, String: shownString,
  bigint: (value, room) => {
    const text = fitted(value.toString(), room.left - 1);
    return text === CUT ? text : `${text}n`;
  },
  symbol: (value) => `Symbol(${value.description ?? ''})`,
  function: shownFunction, Function: shownFunction,
  Array: shownArray, Date: shownDate, Map: shownMap, Set: shownSet, RegExp: shownRegExp, Error: shownError,
  Promise: () => 'Promise{…}', WeakSet: () => 'WeakSet{…}', WeakMap: () => 'WeakMap{…}',
  Arguments: (value, room) => {
    if (value.length === 0) return 'Arguments[]';
    room.take(13);
    return `Arguments[ ${room.list(value, shown)} ]`;
  },
  Generator: () => '', DataView: () => '', ArrayBuffer: () => '',
};
Object.assign(SHOWN, { BigInt: SHOWN.bigint, Symbol: SHOWN.symbol });
for (const name of bySteps.slice(2)) SHOWN[name] = shownBytes;

function shown(value, outer) {
  const room = outer.copy();
  let kind = value === null ? 'null' : typeof value;
  if (kind === 'object') kind = Object.prototype.toString.call(value).slice(8, -1);
  if (Object.hasOwn(SHOWN, kind)) return SHOWN[kind](value, room);
  for (const name of [Symbol.for('chai/inspect'), 'inspect']) {
    if (!(name in value) || typeof value[name] !== 'function') continue;
    const options = { depth: 2, truncate: room.left, seen: room.around, inspect };
    const own = typeof name === 'symbol' ? value[name](options) : value[name](2, options);
    if (own) return typeof own === 'string' ? own : shown(own, room);
    break;
  }
  const prototype = Object.getPrototypeOf(value);
  const isClass = prototype !== Object.prototype && prototype !== null && 'constructor' in value && value.constructor !== Object;
  return isClass ? shownInstance(value, room) : shownObject(value, room);
}

const inspect = (value) => shown(value, new Room(config.truncateThreshold || Infinity));
