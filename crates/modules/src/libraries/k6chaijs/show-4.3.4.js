// How messages of 4.3.4.0 and 4.3.4.1 show values: two levels deep, longer lists a line an item.

const DEPTH = 2;
const LONGEST = 60;

const quoted = (text) => `'${JSON.stringify(text).replace(/^"|"$/g, '').replace(/'/g, "\\'").replace(/\\"/g, '"')}'`;
const tagOf = (value) => Object.prototype.toString.call(value).slice(8, -1);
const isTagged = (value, tag) => typeof value === 'object' && tagOf(value) === tag;

function shownPlain(value) {
  if (value === null) return 'null';
  if (typeof value === 'string') return quoted(value);
  if (typeof value === 'bigint') return `${value}n`;
  return Object.is(value, -0) ? '-0' : String(value);
}

/** What a function, pattern, date or error is called; undefined for other objects. */
function shownByName(value) {
  if (typeof value === 'function') return `[Function${value.name ? `: ${value.name}` : ''}]`;
  if (isTagged(value, 'RegExp')) return RegExp.prototype.toString.call(value);
  if (isTagged(value, 'Date')) return Date.prototype.toUTCString.call(value);
  return isTagged(value, 'Error') ? `[${Error.prototype.toString.call(value)}]` : undefined;
}

function shownBytes(array) {
  let text = '[ ';
  for (const value of array) {
    if (text.length >= config.truncateThreshold - 7) {
      text += '...';
      break;
    }
    text += `${value}, `;
  }
  return `${text} ]`.replace(',  ]', ' ]');
}

function shownProperty(object, key, depth, seen, isItem) {
  const { get, set } = Object.getOwnPropertyDescriptor(object, key) ?? {};
  let text;
  if (get || set) text = `[${[get && 'Getter', set && 'Setter'].filter(Boolean).join('/')}]`;
  else if (seen.includes(object[key])) text = '[Circular]';
  else {
    text = shown(object[key], depth - 1, seen);
    if (text.includes('\n')) {
      const indent = isItem ? '  ' : '   ';
      const lines = text.split('\n').map((line) => indent + line).join('\n');
      text = isItem ? lines.slice(2) : `\n${lines}`;
    }
  }
  if (isItem && /^\d+$/.test(key)) return text;
  return `${/^[a-zA-Z_][a-zA-Z_0-9]*$/.test(key) ? key : quoted(key)}: ${text}`;
}

function joined(items, base, [open, close]) {
  const length = items.reduce((sum, item) => sum + item.length + 1, 0);
  if (length > LONGEST) return `${open}${base && `${base}\n `} ${items.join(',\n  ')} ${close}`;
  return `${open}${base} ${items.join(', ')} ${close}`;
}

function shown(value, depth, seen) {
  if (value && typeof value.inspect === 'function' && !(value.constructor && value.constructor.prototype === value)) {
    const own = value.inspect(depth, { seen, stylize: String });
    return typeof own === 'string' ? own : shown(own, depth, seen);
  }
  if (value === null || !['object', 'function'].includes(typeof value)) return shownPlain(value);
  const keys = [];
  for (const key in value) keys.push(key);
  const name = shownByName(value);
  if ((keys.length === 0 && name !== undefined) || isTagged(value, 'Error')) return name;
  const isArray = Array.isArray(value) || isTagged(value, 'Array');
  const isBytes = typeof value === 'object' && /\wArray$/.test(tagOf(value));
  const braces = isArray || isBytes ? ['[', ']'] : ['{', '}'];
  const base = name === undefined ? '' : ` ${name}`;
  if (keys.length === 0 && (!isArray || value.length === 0)) return braces[0] + base + braces[1];
  if (depth < 0) return isTagged(value, 'RegExp') ? name : '[Object]';
  seen.push(value);
  // Bytes stay on the list of what is around, as in Chai.
  if (isBytes) return shownBytes(value);
  let items = keys;
  if (isArray) items = Array.from({ length: value.length }, (_, at) => String(at)).concat(keys.filter((key) => !/^\d+$/.test(key)));
  const texts = items.map((key) => (isArray && /^\d+$/.test(key) && !Object.hasOwn(value, key) ? '' : shownProperty(value, key, depth, seen, isArray)));
  seen.pop();
  return joined(texts, base, braces);
}

const inspect = (value) => shown(value, DEPTH, []);
