// Values as messages show them in the end.

const compareByInspect = (left, right) => (inspect(left) < inspect(right) ? -1 : 1);

/** As `inspect`, and shorter where that is still too long. */
function objDisplay(value) {
  const text = inspect(value);
  if (!config.truncateThreshold || text.length < config.truncateThreshold) return text;
  switch (Object.prototype.toString.call(value)) {
    case '[object Function]':
      return value.name ? `[Function: ${value.name}]` : '[Function]';
    case '[object Array]':
      return `[ Array(${value.length}) ]`;
    case '[object Object]': {
      const keys = Object.keys(value);
      return `{ Object (${keys.length > 2 ? `${keys[0]}, ${keys[1]}, ...` : keys.join(', ')}) }`;
    }
    default:
      return text;
  }
}
