// What modules export, one name a line. Run by k6 and by Onrush: `__ENV.MODULES` names the modules.
const modules = {};
for (const name of __ENV.MODULES.split(',')) {
  try { modules[name] = require(name) } catch { /* there is no such module */ }
}

const keys = (value) => {
  const is_object = (typeof value === 'object' && value !== null) || typeof value === 'function';
  if (!is_object) return [];
  const own = typeof value === 'function' ? ['prototype'] : [];
  return Object.keys(value).filter((key) => !own.includes(key));
};

const tell = (path, value, depth) => {
  for (const key of keys(value)) {
    // A default export has what its module has.
    if (key === 'default' && depth === 0) { tell(path, value.default, 0); continue }
    console.log(`@${path}.${key}`);
    if (depth > 0) continue;
    try { tell(`${path}.${key}`, value[key], depth + 1) } catch { /* not to be read here */ }
  }
};

module.exports.options = { iterations: 1, vus: 1 };
module.exports.default = () => {
  for (const name of Object.keys(modules)) { console.log(`@${name}`); tell(name, modules[name], 0) }
  for (const name of Object.getOwnPropertyNames(globalThis)) console.log(`@global.${name}`);
};
