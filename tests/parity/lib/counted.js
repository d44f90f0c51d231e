let times = 0;

export function count() {
  times += 1;
  return times;
}
