// The load of examples/collab/load.js with what k6 has: no links, no common start, no stamps of arrival, the draw by hand.
// For what a generator costs; for delays of messages k6 is asked when its handler ran.
import exec from 'k6/execution';
import { Trend } from 'k6/metrics';
import { WebSocket } from 'k6/websockets';
import { handleSummary } from './summary.js';

const users = Number(__ENV.USERS || 50);
const seconds = parseFloat(__ENV.DURATION);
const weights = { cursor: 40, edit: 30, save: 10, open: 10, list: 7, comment: 2.5, question: 0.5 };
const delay = new Trend('message_delay', true);
export const options = {
  scenarios: { users: { executor: 'per-vu-iterations', vus: users, iterations: 1, maxDuration: `${Math.ceil(seconds) + 30}s` } },
};
export { handleSummary };

function draw() {
  let left = Math.random() * 100;
  for (const [name, weight] of Object.entries(weights)) {
    if ((left -= weight) < 0) return name;
  }
  return 'cursor';
}

export default function () {
  const files = {};
  let names = [];
  let place;
  const move = () => {
    place = files[names[Math.floor(Math.random() * names.length)]];
    place.line = Math.floor(Math.random() * place.lines);
  };
  const bodies = {
    cursor: () => ({ file: place.file, line: place.line, column: Math.floor(Math.random() * 80) }),
    edit: () => ({ file: place.file, version: place.version, line: place.line, remove: 1, insert: [`const changed = ${Math.random()};`] }),
    save: () => ({ file: place.file }),
    list: () => ({}),
    open: () => ({ file: place.file }),
    comment: () => ({ file: place.file, line: place.line, text: 'Could this be shorter?' }),
    question: () => ({ text: 'Who knows why the build is red?' }),
  };
  const socket = new WebSocket(`${__ENV.TARGET_WS}/projects/project?user=user-${exec.vu.idInTest}`);
  socket.onmessage = ({ data }) => {
    const message = JSON.parse(data);
    if (message.stamps) delay.add(Date.now() - message.stamps[0] / 1000, { event: message.type });
    if (message.type === 'edit' || message.type === 'applied') files[message.file].version = message.version;
    if (message.type !== 'welcome') return;
    for (const file of message.files) files[file.file] = file;
    names = Object.keys(files);
    move();
    setTimeout(() => {
      const acting = setInterval(() => {
        const type = draw();
        if (type === 'open') move();
        socket.send(JSON.stringify({ type, sent: Date.now() * 1000, ...bodies[type]() }));
      }, 500);
      setTimeout(() => {
        clearInterval(acting);
        socket.close();
      }, seconds * 1000);
    }, Math.random() * 500);
  };
}
