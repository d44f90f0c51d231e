// Texts between two marks.

/** The first text between two marks, or with `repeat` an array of all. Nothing found: null. */
function findBetween(content, left, right, repeat = false) {
  const all = [];
  let rest = content;
  for (;;) {
    const mark = rest.indexOf(left);
    if (mark === -1) break;
    const start = mark + left.length;
    const end = rest.indexOf(right, start);
    if (end === -1) break;
    const found = rest.substring(start, end);
    if (!repeat) return found;
    all.push(found);
    const next = rest.substring(end + right.length);
    if (next.length === rest.length) throw new RangeError('findBetween: both marks are empty, which finds texts for ever');
    rest = next;
  }
  return all.length > 0 ? all : null;
}

/** As `findBetween` of 1.1.0: the first text. Nothing found: ''. */
const findFirst = (content, left, right) => findBetween(content, left, right) ?? '';
