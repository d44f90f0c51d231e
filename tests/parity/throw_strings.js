// The place of what is thrown, whatever it is.
export const options = { iterations: 4 };

export default function () {
  if (__ITER === 0) throw "a text";
  if (__ITER === 1) throw { code: 5 };
  if (__ITER === 2) throw null;
  throw 17;
}
