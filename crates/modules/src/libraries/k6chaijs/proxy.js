// A word that is no assertion is an error instead of `undefined`, which would hold of everything.

const BUILT_IN = ['__flags', '__methods', '_obj', 'assert'];
const FARTHEST = 4;

const isProxyEnabled = () => config.useProxy && typeof Proxy !== 'undefined' && typeof Reflect !== 'undefined';

/** Own and inherited names, in order. */
function namesOf(object) {
  const names = new Set();
  for (let at = object; at !== null; at = Object.getPrototypeOf(at)) {
    for (const name of Object.getOwnPropertyNames(at)) names.add(name);
  }
  return [...names];
}

/** Letters to insert, remove or replace to make one text of the other, up to `most`. */
function distance(one, other, most) {
  if (Math.abs(one.length - other.length) >= most) return most;
  let above = Array.from({ length: other.length + 1 }, (_, at) => (at < other.length ? at : 0));
  for (let row = 1; row <= one.length; row += 1) {
    const line = [row];
    for (let at = 1; at <= other.length; at += 1) {
      const isSame = one[row - 1] === other[at - 1];
      // Far from the diagonal there is no way below `most`.
      line[at] = Math.abs(row - at) >= most ? most : Math.min(above[at] + 1, line[at - 1] + 1, above[at - 1] + (isSame ? 0 : 1));
    }
    above = line;
  }
  return above[other.length];
}

function nearest(target, property) {
  let found = null;
  let least = FARTHEST;
  for (const name of namesOf(target)) {
    if (Object.hasOwn(Object.prototype, name) || BUILT_IN.includes(name)) continue;
    const away = distance(property, name, least);
    if (away < least) [found, least] = [name, away];
  }
  return found;
}

/** `method`: the name of a method that is no word, behind which nothing can follow. */
function proxify(target, method) {
  if (!isProxyEnabled()) return target;
  return new Proxy(target, {
    get(object, property) {
      const isKnown = typeof property !== 'string' || config.proxyExcludedKeys.includes(property) || Reflect.has(object, property);
      if (isKnown) return Reflect.get(object, property);
      if (method) throw new Error(`Invalid Chai property: ${method}.${property}. See docs for proper usage of "${method}".`);
      const near = nearest(object, property);
      throw new Error(`Invalid Chai property: ${property}${near === null ? '' : `. Did you mean "${near}"?`}`);
    },
  });
}
