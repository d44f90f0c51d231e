// Tables of requests and errors, made anew for a stretch of the run from the blocks in the page. Those are coarse: a
// stretch begins and ends where a block does, and percentiles are within 2.2 %.
const blocks = JSON.parse(document.querySelector("#blocks script")?.textContent ?? "null");
const stretchTables = [...document.querySelectorAll("table[data-stretch]")];
const chosen = element("div", { class: "chosen", role: "region", "aria-label": "Chosen stretch", hidden: "" });
const chosenText = element("span", { role: "status" });
for (const [name, act] of [["Draw it larger", () => enlarge(shown.stretch)], ["Whole run", forget]]) {
  const button = element("button", { type: "button" }, name);
  button.addEventListener("click", act);
  chosen.append(button);
}
chosen.prepend(chosenText);
document.body.append(chosen);
stretchListeners.push(retell);

// A long table shows what matters most, which is in front; the page without this script shows all of it.
const ROWS = 15;
for (const table of stretchTables) {
  const rest = [...table.tBodies[0].rows].slice(ROWS);
  if (rest.length < 5) continue;
  const button = element("button", { type: "button", class: "more" }, `Show ${rest.length} more`);
  rest.forEach((row) => row.classList.add("later"));
  table.classList.add("short");
  button.addEventListener("click", () => { table.classList.remove("short"); button.remove(); });
  table.parentElement.after(button);
}

// Whole numbers in Base64 VLQ, as source maps have them.
const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const DIGIT = new Map([...DIGITS].map((digit, n) => [digit, n]));
function numbers(text) {
  const found = [];
  let number = 0, scale = 1;
  for (const character of text) {
    const digit = DIGIT.get(character);
    number += (digit % 32) * scale;
    scale *= 32;
    if (digit >= 32) continue;
    found.push(number % 2 ? -(number - 1) / 2 : number / 2);
    [number, scale] = [0, 1];
  }
  return found;
}

// Of each row, block by block, pairs of bucket and count.
let unpacked;
function read() {
  return (unpacked ??= blocks.rows.map((row) => row.split(";").slice(0, -1).map((block) => {
    const pairs = numbers(block);
    for (let n = 2; n < pairs.length; n += 2) pairs[n] += pairs[n - 2];
    return pairs;
  })));
}

const value = (bucket) => (bucket <= -400 ? 0 : 2 ** ((bucket + 0.5) / 16));

// Requests of some rows within some blocks: counts by bucket.
function sum(rows, first, last) {
  const all = { count: 0, failed: 0, buckets: new Map() };
  for (const row of rows) {
    for (let block = first; block <= last; block++) {
      const pairs = read()[row][block];
      for (let n = 0; n < pairs.length; n += 2) {
        all.count += pairs[n + 1];
        if (blocks.failed[row]) all.failed += pairs[n + 1];
        all.buckets.set(pairs[n], (all.buckets.get(pairs[n]) ?? 0) + pairs[n + 1]);
      }
    }
  }
  all.sorted = [...all.buckets].sort(([a], [b]) => a - b);
  return all;
}

function percentile({ count, sorted }, percent) {
  const rank = (percent / 100) * (count - 1);
  let seen = 0;
  for (const [bucket, more] of sorted) if ((seen += more) > rank) return value(bucket);
  return 0;
}

const about = (ms) => `≈ ${timeText(Number(ms.toPrecision(3)))}`;
const COLUMNS = {
  count: ({ count }) => grouped(count),
  rate: ({ count }, { length }) => rounded(count / length),
  share: ({ count }, { all }) => share(count, all),
  failed: ({ failed }) => grouped(failed),
  failedshare: ({ failed, count }) => share(failed, count),
  p50: (found) => about(percentile(found, 50)),
  p95: (found) => about(percentile(found, 95)),
  p99: (found) => about(percentile(found, 99)),
  max: (found) => about(percentile(found, 100)),
};

function retell(stretch) {
  chosen.hidden = !stretch;
  if (!stretch) return stretchTables.forEach(restore);
  if (!blocks) return (chosenText.textContent = `${clock(stretch[0], 1e3)} to ${clock(stretch[1], 1e3)}`);
  const first = Math.max(0, blocks.ends.findIndex((end) => end > stretch[0]));
  const last = Math.max(first, blocks.starts.findLastIndex((start) => start < stretch[1]));
  const [from, to, end] = [blocks.starts[first], blocks.ends[last], blocks.ends.at(-1)];
  const around = { length: to - from, all: sum(blocks.rows.keys(), first, last).count };
  chosenText.textContent = `${clock(from, end)} to ${clock(to, end)}: ${grouped(around.all)} requests. Tables of requests and errors show this stretch, percentiles within 2.2 %.`;
  for (const table of stretchTables) {
    const columns = table.dataset.stretch.split(" ");
    for (const row of table.tBodies[0].rows) tell(row, columns, first, last, around);
  }
}

function tell(row, columns, first, last, around) {
  const found = row.dataset.rows === undefined ? null : sum(row.dataset.rows.split(" ").map(Number), first, last);
  row.classList.toggle("none", !found?.count);
  columns.forEach((column, n) => {
    if (column === "-") return;
    const cell = row.cells[n];
    cell.whole ??= cell.innerHTML;
    cell.textContent = found?.count ? COLUMNS[column](found, around) : column === "count" && found ? "0" : "–";
  });
}

function restore(table) {
  for (const row of table.tBodies[0].rows) {
    row.classList.remove("none");
    for (const cell of row.cells) if (cell.whole !== undefined) cell.innerHTML = cell.whole;
  }
}
