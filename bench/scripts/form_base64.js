// The same form by the base64 trick: the image and the boundaries are encoded
// once, each padded to a multiple of three bytes so that the encoded pieces can
// be joined as strings, and kept in a SharedArray. An iteration encodes its JSON,
// joins five strings and decodes once.
import http from 'k6/http';
import { b64decode, b64encode } from 'k6/encoding';
import { SharedArray } from 'k6/data';
import { closed, handleSummary } from './summary.js';

export const options = closed();
export { handleSummary };

const boundary = '----BenchFormBoundaryQ2hhbmdlZA';

// Filler goes in a part header of its own, which receivers ignore.
function padded(build, after) {
  let text = build('');
  while ((text.length + after) % 3 !== 0) text = build('x'.repeat(text.length - build('').length + 1));
  return text;
}

const pieces = new SharedArray('pieces', () => {
  const image = open(__ENV.IMAGE, 'b');
  const head = padded((fill) => `--${boundary}\r\n` +
    'Content-Disposition: form-data; name="image"; filename="image.jpg"\r\n' +
    `X-Fill: a${fill}\r\nContent-Type: image/jpeg\r\n\r\n`, 0);
  const rest = image.byteLength % 3;
  const whole = image.byteLength - rest;
  // The image's last odd bytes travel with the boundary that follows it.
  const tailBytes = new Uint8Array(image.slice(whole));
  const middle = padded((fill) => `\r\n--${boundary}\r\n` +
    'Content-Disposition: form-data; name="meta"\r\n' +
    `X-Fill: a${fill}\r\nContent-Type: application/json\r\n\r\n`, rest);
  const joint = new Uint8Array(rest + middle.length);
  joint.set(tailBytes, 0);
  for (let i = 0; i < middle.length; i++) joint[rest + i] = middle.charCodeAt(i);
  return [
    b64encode(head),
    b64encode(image.slice(0, whole)),
    b64encode(joint.buffer),
    b64encode(`\r\n--${boundary}--\r\n`),
  ];
});

// An element of a SharedArray is parsed anew each time it is read; KEEP=1 reads
// them once per VU, at the price of a copy in each.
const kept = __ENV.KEEP ? [0, 1, 2, 3].map((i) => pieces[i]) : pieces;

export default function () {
  let meta = JSON.stringify({ id: __ITER, vu: __VU, name: 'picture', tags: ['a', 'b', 'c'] });
  meta += '  '.slice(0, (3 - (meta.length % 3)) % 3);
  const body = b64decode(kept[0] + kept[1] + kept[2] + b64encode(meta) + kept[3]);
  http.post(__ENV.URL, body, {
    headers: { 'Content-Type': `multipart/form-data; boundary=${boundary}` },
  });
}
