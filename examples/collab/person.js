// The fifty people: what they do and when, whatever their sockets speak. load.js gives them WebSockets, socketio-load.js Socket.IO.
//
// -e DURATION=20s (5m), USERS (50), PROJECTS (1: all in one), NETWORK (speedtest-2022), SEED (1).
import { check, randomSeed } from "k6";
import exec from "k6/execution";
import { record } from "onrush/delay";
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

/** Somebody in a project. A subclass connects, hears what comes, and sends. */
export class Person {
  constructor() {
    this.files = new Map(); // name → { file, version, lines }
    this.refused = 0;
    // How the connection ended; "ours" when it was us.
    this.ended = undefined;
    // Nothing, or why not.
    this.entered = new Promise((resolve) => {
      this.enter = resolve;
    });
    this.left = new Promise((resolve) => {
      this.leave = resolve;
    });
  }

  welcome({ files }) {
    for (const file of files) this.files.set(file.file, file);
    this.names = [...this.files.keys()];
    this.move();
    this.enter();
  }

  /** An event of somebody else, or the answer to one's own. */
  hear(type, message) {
    if (message.stamps) record(type, message.stamps);
    // Whoever edits says which version they saw. The text itself is not kept: that would be work of the generator.
    if (type === "edit") this.files.get(message.file).version = message.version;
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
    this.send(type, events[type](this.place));
  }
}

const pause = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));

/** One person's part, from beginning to end: `connect(name, project)` makes them. */
export async function play(connect) {
  const number = exec.vu.idInTest;
  randomSeed(SEED + number);
  const person = connect(`user-${number}`, `project-${number % PROJECTS}`);
  const why = await person.entered;
  if (!check(why, { "was let in": () => why === undefined })) {
    console.error(`user-${number} was not let in: ${why}`);
    return;
  }

  // All begin together, and each at a moment of its own within the first half second: people are not in step.
  const start = await ready({ duration: __ENV.DURATION || "5m" });
  await pause(Math.random() * 500);
  person.act();
  const acting = every("500ms", () => person.act());
  await pause(remaining());
  acting.stop();

  // What is under way arrives yet.
  await pause(500);
  person.close();
  await person.left;
  check(person, {
    "all began together": () => start.missing === 0,
    "nothing was refused": ({ refused }) => refused === 0,
    "the connection stood": ({ ended }) => ended === "ours",
  });
}
