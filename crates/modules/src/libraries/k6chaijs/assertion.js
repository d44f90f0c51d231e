// `Assertion`: a value with flags, and how words, methods and plug-ins are added to it.

const config = {
  includeStack: false,
  showDiff: true,
  truncateThreshold: 40,
  useProxy: true,
  proxyExcludedKeys: ['then', 'catch', 'inspect', 'toJSON'],
  ...(VERSION >= 50 ? { deepEqual: null } : {}),
};

/** Not made by the engine's `Error`, as in Chai: what is shown of it are its own properties. */
function AssertionError(message, properties) {
  this.message = message || 'Unspecified AssertionError';
  this.showDiff = false;
  Object.assign(this, without(properties ?? {}, ['name', 'message', 'stack', 'constructor', 'toJSON']));
  this.stack = new Error().stack;
}

const without = (object, names) => Object.fromEntries(Object.entries(object).filter(([name]) => !names.includes(name)));

AssertionError.prototype = Object.assign(Object.create(Error.prototype), {
  name: 'AssertionError',
  constructor: AssertionError,
  toJSON(stack) {
    const all = { name: this.name, ...without(this, ['constructor', 'toJSON', 'stack']) };
    return stack === false || !this.stack ? all : { ...all, stack: this.stack };
  },
});

/** Reads a flag, or with three arguments sets it. */
function flag(object, key, ...value) {
  const flags = object.__flags ?? (object.__flags = Object.create(null));
  if (value.length === 0) return flags[key];
  [flags[key]] = value;
  return undefined;
}

/** Flags go on to the next assertion; without `all` those that describe the value stay. */
function transferFlags(from, to, all = true) {
  if (!to.__flags) to.__flags = Object.create(null);
  for (const [key, value] of Object.entries(from.__flags ?? {})) {
    if (all || !['object', 'ssfi', 'lockSsfi', 'message'].includes(key)) to.__flags[key] = value;
  }
}

class Assertion {
  constructor(object, message, ssfi, lockSsfi) {
    const flags = { ssfi: ssfi || Assertion, lockSsfi, object, message };
    if (VERSION >= 50) flags.eql = config.deepEqual || eql;
    this.__flags = Object.assign(Object.create(null), flags);
    return proxify(this);
  }
}

Object.defineProperty(Assertion.prototype, 'assert', { value: undefined, writable: true, configurable: true, enumerable: true });
Object.defineProperty(Assertion.prototype, '_obj', {
  get() {
    return flag(this, 'object');
  },
  set(value) {
    flag(this, 'object', value);
  },
});

/** What comes of a word or method: its own value, else an assertion with the same flags. */
function next(assertion, outcome) {
  if (outcome !== undefined) return outcome;
  const following = new Assertion();
  transferFlags(assertion, following);
  return following;
}

/** `length` of a function means nothing, and `.length` behind a word is often meant for the value. */
function addLengthGuard(method, name, isChainable) {
  return Object.defineProperty(method, 'length', {
    get() {
      const advice = isChainable
        ? `Due to a compatibility issue, "length" cannot directly follow "${name}". Use "${name}.lengthOf" instead.`
        : `See docs for proper usage of "${name}".`;
      throw new Error(`Invalid Chai property: ${name}.length. ${advice}`);
    },
  });
}

function addProperty(target, name, get = () => undefined) {
  Object.defineProperty(target, name, {
    get() {
      return next(this, get.call(this));
    },
    configurable: true,
  });
}

function addMethod(target, name, method) {
  const wrapper = function (...args) {
    return next(this, method.apply(this, args));
  };
  target[name] = proxify(addLengthGuard(wrapper, name, false), name);
}

/** A method that is also a word: `a('string')`, `a.string`. `chaining` runs in both cases, first. */
function addChainableMethod(target, name, method, chaining = () => undefined) {
  const behaviour = { method, chainingBehavior: typeof chaining === 'function' ? chaining : () => undefined };
  target.__methods ??= {};
  target.__methods[name] = behaviour;
  Object.defineProperty(target, name, {
    get() {
      behaviour.chainingBehavior.call(this);
      const wrapper = function (...args) {
        return next(this, behaviour.method.apply(this, args));
      };
      addLengthGuard(wrapper, name, true);
      const { call, apply } = Function.prototype;
      Object.setPrototypeOf(wrapper, Object.assign(Object.create(this), { call, apply }));
      transferFlags(this, wrapper);
      return proxify(wrapper);
    },
    configurable: true,
  });
}

function overwriteProperty(target, name, get) {
  const before = Object.getOwnPropertyDescriptor(target, name)?.get ?? (() => undefined);
  Object.defineProperty(target, name, {
    get() {
      return next(this, get(before).call(this));
    },
    configurable: true,
  });
}

function overwriteMethod(target, name, method) {
  const missing = () => {
    throw new Error(`${name} is not a function`);
  };
  const before = typeof target[name] === 'function' ? target[name] : missing;
  addMethod(target, name, function (...args) {
    return method(before).apply(this, args);
  });
}

function overwriteChainableMethod(target, name, method, chaining) {
  const behaviour = target.__methods[name];
  const before = { ...behaviour };
  behaviour.chainingBehavior = function () {
    return next(this, chaining(before.chainingBehavior).call(this));
  };
  behaviour.method = function (...args) {
    return next(this, method(before.method).apply(this, args));
  };
}

const adders = { addProperty, addMethod, addChainableMethod, overwriteProperty, overwriteMethod, overwriteChainableMethod };
for (const [name, add] of Object.entries(adders)) {
  Assertion[name] = function (...args) {
    return add(this.prototype, ...args);
  };
}
