// Fifty people work on one project: two events a second each, drawn by weight, every one to everybody else. How long is each under way?
//
//   onrush run --serve=examples/collab/app.js --save out examples/collab/load.js
//
// -e DURATION=20s (5m), USERS (50), PROJECTS (1: all in one), NETWORK (speedtest-2022), TARGET_WS (a server elsewhere), SEED (1).
//
// What it costs: an event of one user is a message to 49, so 100 events a second are about 3,600 messages to receive. That is where
// the time of the generator goes; so a handler parses the message, records its delay, and does nothing else.
import { check, randomSeed } from "k6";
import exec from "k6/execution";
import { WebSocket } from "k6/websockets";
import { record, stamp } from "onrush/delay";
import { every, mix } from "onrush/mix";
import { ready, remaining } from "onrush/together";

/** A whole number of the command line. */
function number(name, standard) {
  const value = Number(__ENV[name] || standard);
  if (!Number.isInteger(value) || value < 1) {
    throw new Error(`-e ${name}=${__ENV[name]}: expected a whole number from 1 on`);
  }
  return value;
}

const TARGET = __ENV.TARGET_WS || "ws://127.0.0.1:8080";
const USERS = number("USERS", 50);
const PROJECTS = number("PROJECTS", 1);
const SEED = number("SEED", 1);

export const options = {
  scenarios: {
    // One iteration a user; how long it lasts is up to `ready` and `remaining`, maxDuration only ends what hangs.
    users: { executor: "per-vu-iterations", vus: USERS, iterations: 1, maxDuration: "1h" },
  },
  network: __ENV.NETWORK || "speedtest-2022",
  thresholds: {
    checks: ["rate==1"],
    message_delay: ["avg<450"],
    "message_delay{event:edit}": ["avg<300"],
  },
};

const draw = mix({ cursor: 40, edit: 30, save: 10, open: 10, list: 7, comment: 2.5, question: 0.5 });
const pick = (list) => list[Math.floor(Math.random() * list.length)];

/** A user's next event. `place` is where they are: a file, its version and lines as far as this user has heard, and a line. */
const events = {
  cursor: ({ file, line }) => ({ file, line, column: Math.floor(Math.random() * 80) }),
  edit: ({ file, version, line }) => ({ file, version, line, remove: 1, insert: [`const changed = ${Math.random()};`] }),
  save: ({ file }) => ({ file }),
  list: () => ({}),
  open: ({ file }) => ({ file }),
  comment: ({ file, line }) => ({ file, line, text: "Could this be shorter?" }),
  question: () => ({ text: "Who knows why the build is red?" }),
};

class User {
  constructor(name, project) {
    this.files = new Map(); // name → { file, version, lines }
    this.refused = 0;
    this.closed = undefined;
    this.socket = new WebSocket(`${TARGET}/projects/${project}?user=${name}`);
    // Nothing, or why not.
    this.entered = new Promise((resolve) => {
      this.enter = resolve;
    });
    this.left = new Promise((resolve) => {
      this.leave = resolve;
    });
    this.socket.onmessage = ({ data }) => this.hear(JSON.parse(data));
    this.socket.onerror = ({ error }) => this.enter(error);
    this.socket.onclose = ({ code, reason }) => {
      this.closed = code;
      this.enter(`closed with ${code} ${reason}`);
      this.leave();
    };
  }

  /** Every message that comes. */
  hear(message) {
    if (message.stamps) record(message.type, message.stamps);
    // Whoever edits says which version they saw. The text itself is not kept: that would be work of the generator.
    if (message.type === "edit" || message.type === "applied") this.files.get(message.file).version = message.version;
    else if (message.type === "error") this.refuse(message.message);
    else if (message.type === "welcome") {
      for (const file of message.files) this.files.set(file.file, file);
      this.names = [...this.files.keys()];
      this.move();
      this.enter();
    }
  }

  refuse(why) {
    this.refused += 1;
    console.warn(`refused: ${why}`);
  }

  /** Goes to a line of some file. */
  move() {
    this.place = this.files.get(pick(this.names));
    this.place.line = Math.floor(Math.random() * this.place.lines);
  }

  /** Does one thing. */
  act() {
    const type = draw();
    if (type === "open") this.move();
    this.socket.send(JSON.stringify({ type, sent: stamp(type), ...events[type](this.place) }));
  }
}

const pause = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));

export default async function () {
  const number = exec.vu.idInTest;
  randomSeed(SEED + number);
  const user = new User(`user-${number}`, `project-${number % PROJECTS}`);
  const why = await user.entered;
  if (!check(why, { "was let in": () => why === undefined })) {
    console.error(`user-${number} was not let in: ${why}`);
    return;
  }

  // All begin together, and each at a moment of its own within the first half second: people are not in step.
  const start = await ready({ duration: __ENV.DURATION || "5m" });
  await pause(Math.random() * 500);
  user.act();
  const acting = every("500ms", () => user.act());
  await pause(remaining());
  acting.stop();

  // What is under way arrives yet.
  await pause(500);
  user.socket.close();
  await user.left;
  check(user, {
    "all began together": () => start.missing === 0,
    "nothing was refused": ({ refused }) => refused === 0,
    "the connection stood": ({ closed }) => closed === 1000,
  });
}
