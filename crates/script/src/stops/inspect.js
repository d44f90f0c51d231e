(() => {
  // Values that were told, by their numbers, which begin with 1. They are kept as long as their user is there.
  const told = [];
  let last;
  const LONGEST = 2000;
  const MOST = 1000;

  const reference = (value) => {
    const is_object = (typeof value === 'object' && value !== null) || typeof value === 'function';
    return is_object ? told.push(value) : 0;
  };

  const kind = (value) => {
    try {
      const name = value.constructor && value.constructor.name;
      if (typeof name === 'string' && name) return name;
    } catch { /* a getter of the script */ }
    return Object.prototype.toString.call(value).slice(8, -1);
  };

  const cut = (text) => (text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text);

  const simple = (value) => {
    switch (typeof value) {
      case 'string': return cut(JSON.stringify(value));
      case 'bigint': return `${value}n`;
      case 'number': return Object.is(value, -0) ? '-0' : String(value);
      case 'function': return `ƒ ${value.name}()`;
      default: return String(value);
    }
  };

  const preview = (value, deep) => {
    if (typeof value !== 'object' || value === null) return simple(value);
    if (value instanceof Error) return `${value.name}: ${value.message}`;
    const name = kind(value);
    const is_array = Array.isArray(value);
    const keys = Object.keys(value);
    const items = is_array ? value.slice(0, 5).map((item) => ['', item]) : keys.slice(0, 5).map((key) => [key, value[key]]);
    const length = is_array ? value.length : keys.length;
    const head = is_array ? `Array(${length}) ` : name === 'Object' ? '' : `${name} `;
    const shown = deep
      ? items.map(([key, item]) => (key ? `${key}: ` : '') + preview(item, false)).concat(length > 5 ? ['…'] : [])
      : length ? ['…'] : [];
    const [open, close] = is_array ? '[]' : '{}';
    return cut(`${head}${open}${shown.join(', ')}${close}`);
  };

  const describe = (name, value) => {
    let text;
    try { text = preview(value, true) } catch (error) { text = `<${error}>` }
    const type = value === null ? 'null' : typeof value === 'object' ? kind(value) : typeof value;
    return { name, value: text, type, variablesReference: reference(value) };
  };

  const attempt = (name, read) => {
    try { return describe(name, read()) } catch (error) {
      return { name, value: `<${error}>`, type: 'exception', variablesReference: 0 };
    }
  };

  const parts = (value) => {
    const keys = Reflect.ownKeys(value).slice(0, MOST);
    const all = keys.map((key) => attempt(typeof key === 'symbol' ? String(key) : key, () => value[key]));
    if (typeof Map === 'function' && value instanceof Map) {
      [...value].slice(0, MOST).forEach(([key, item]) => all.push(describe(preview(key, true), item)));
    }
    if (typeof Set === 'function' && value instanceof Set) {
      [...value].slice(0, MOST).forEach((item, at) => all.push(describe(String(at), item)));
    }
    if (typeof ArrayBuffer === 'function' && value instanceof ArrayBuffer) {
      all.push(describe('byteLength', value.byteLength));
    }
    return all;
  };

  const names = (list, evaluate) => {
    const all = [];
    for (const name of list) {
      try { all.push(describe(name, evaluate(name))) } catch (error) {
        // A name that only types have is none at run time.
        if (!String(error).includes('is not defined')) {
          all.push({ name, value: '<not initialised>', type: 'undefined', variablesReference: 0 });
        }
      }
    }
    return all;
  };

  const response = (given) => {
    if (Array.isArray(given)) return given[given.length - 1];
    const is_batch = given && typeof given === 'object' && !('status' in given);
    return is_batch ? Object.values(given).pop() : given;
  };

  const watch = (module) => {
    for (const name of ['get', 'head', 'post', 'put', 'patch', 'del', 'options', 'request', 'batch', 'asyncRequest']) {
      const original = module[name];
      if (typeof original !== 'function') continue;
      const noted = name === 'asyncRequest'
        ? async function (...given) { return (last = await original.apply(this, given)) }
        : function (...given) {
          const got = original.apply(this, given);
          last = response(got);
          return got;
        };
      module[name] = Object.defineProperty(noted, 'name', { value: name, configurable: true });
    }
  };

  const answers = {
    // A text that begins with a brace is an object, not a block.
    value: (text, evaluate) => describe('', evaluate(/^\s*\{/.test(text) ? `(${text})` : text)),
    names: (list, evaluate) => names(JSON.parse(list), evaluate),
    globals: (list) => JSON.parse(list)
      .filter((name) => name in globalThis)
      .map((name) => attempt(name, () => globalThis[name])),
    response: () => (last === undefined || last === null ? [] : parts(last)),
    forget: () => { told.length = 0 },
    parts: (number) => {
      if (!(number - 1 in told)) throw new RangeError('this value is not known any more');
      return parts(told[number - 1]);
    },
  };

  return (what, argument, evaluate) => (
    what === 'watch' ? void watch(argument) : JSON.stringify(answers[what](argument, evaluate))
  );
})()
