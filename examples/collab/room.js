// The projects of the server, and what their users can do, whatever protocol they speak: app.js serves WebSockets, socketio-app.js serves
// Socket.IO.
//
// Nothing grows without a limit: projects, users, files, lines, messages, mistakes, and what waits for a slow receiver.
import { arrival, stamp } from "onrush/delay";
import { Project, Refused } from "./project.js";

const MOST_PROJECTS = 1000;
const MOST_USERS = 500;
export const MOST_MESSAGE = 64 * 1024;
export const MOST_MISTAKES = 20;
// A receiver with more than this unread gets no more cursors, which are worth nothing when they are old, until it has caught up …
const SLOW = 128 * 1024;
// … and one with this much is disconnected: it can come back and open its files again.
const TOO_SLOW = 4 * 1024 * 1024;

/** name → { project, users: name → socket }. One stays after its last user has left, until others need its place. */
const rooms = new Map();

const STARTER = {
  "main.js": Array.from({ length: 120 }, (_, n) => `const value${n} = compute(${n});`).join("\n"),
  "compute.js": Array.from({ length: 80 }, (_, n) => `if (n === ${n}) return ${n * n};`).join("\n"),
  "style.css": Array.from({ length: 100 }, (_, n) => `.cell-${n} { grid-row: ${n}; }`).join("\n"),
  "index.html": Array.from({ length: 60 }, (_, n) => `<p id="p${n}">Paragraph ${n}</p>`).join("\n"),
  "README.md": Array.from({ length: 40 }, (_, n) => `- point ${n}`).join("\n"),
};

function roomOf(name) {
  const known = rooms.get(name);
  if (known) return known;
  if (rooms.size >= MOST_PROJECTS) {
    const empty = [...rooms].find(([, room]) => room.users.size === 0);
    if (!empty) return undefined;
    rooms.delete(empty[0]);
  }
  const room = { name, project: new Project(STARTER), users: new Map() };
  rooms.set(name, room);
  return room;
}

/**
 * The user's room, with them in it. Or else why they are not let in: [whether another time may do, a sentence].
 * Somebody who comes again, because the network had gone, takes the place of what is left of the first time.
 */
export function enter(ws, projectName, name) {
  if (![projectName, name].every((given) => /^[\w-]{1,64}$/.test(given ?? ""))) return { why: [false, "names are of letters, digits, - and _"] };
  const room = roomOf(projectName);
  if (!room || room.users.size >= MOST_USERS) return { why: [true, room ? "the project is full" : "the server is full"] };
  room.users.get(name)?.close(4000, "connected again from elsewhere");
  room.users.set(name, ws);
  ws.subscribe(room.name);
  ws.subscribe(`${room.name}/cursors`);
  return { room };
}

/** Whether somebody was there who is not any more. */
export function leave(ws, { room, name }) {
  if (room.users.get(name) !== ws) return false;
  return room.users.delete(name);
}

// What a message holds. A value that is missing or wrong is refused by name.

function text(message, key, most, otherwise) {
  const value = message[key] ?? otherwise;
  if (typeof value !== "string" || value.length > most) throw new Refused(`${key} is ${describe(value)}, expected a string of at most ${most} characters`);
  return value;
}

function whole(message, key, otherwise) {
  const value = message[key] ?? otherwise;
  if (!Number.isInteger(value) || value < 0 || value > 1e9) throw new Refused(`${key} is ${describe(value)}, expected a whole number from 0 on`);
  return value;
}

function lines(message, key) {
  const value = message[key] ?? [];
  if (!Array.isArray(value) || !value.every((line) => typeof line === "string" && !line.includes("\n"))) throw new Refused(`${key} is ${describe(value)}, expected a list of lines`);
  return value;
}

const describe = (value) => (value === undefined ? "missing" : String(JSON.stringify(value)).slice(0, 40));

// What users can send. Each returns what the others get (`others`), what the asker gets (`asker`), or both.

const events = {
  cursor: (_, message) => ({ others: { file: text(message, "file", 100), line: whole(message, "line"), column: whole(message, "column", 0) } }),
  edit({ project }, message) {
    const file = text(message, "file", 100);
    const asked = { version: whole(message, "version"), line: whole(message, "line"), remove: whole(message, "remove", 0), insert: lines(message, "insert") };
    const edit = project.edit(file, asked);
    return { others: { file, ...edit }, asker: { file, version: edit.version } };
  },
  save: ({ project }, message) => ({ asker: project.save(text(message, "file", 100)) }),
  list: ({ project, users }) => ({ asker: { files: project.list(), users: [...users.keys()] } }),
  open: ({ project }, message) => ({ asker: project.open(text(message, "file", 100)) }),
  comment: (_, message) => ({ others: { file: text(message, "file", 100), line: whole(message, "line"), text: text(message, "text", 2000) } }),
  question: (_, message) => ({ others: { text: text(message, "text", 2000) } }),
};

/** An event of a user: who is told (a topic), what they are told, and what the asker is told. Throws `Refused`. */
export function handle({ room, name }, type, message) {
  const handler = Object.hasOwn(events, type) ? events[type] : undefined;
  if (!handler) throw new Refused(`type is ${describe(type)}, expected ${Object.keys(events).join(", ")}`);
  const { others, asker } = handler(room, message);
  const stamps = () => (Number.isFinite(message.sent) ? [message.sent, arrival(), stamp()] : undefined);
  return {
    topic: type === "cursor" ? `${room.name}/cursors` : room.name,
    others: others && { user: name, stamps: stamps(), ...others },
    // The answer to an edit is a receipt, not an event that somebody waits for.
    asker: others ? asker : asker && { user: name, stamps: stamps(), ...asker },
  };
}

/** Looks for receivers that fall behind. `publish` never waits for them: their messages are queued here. */
function lookForSlow() {
  for (const room of rooms.values()) {
    for (const ws of room.users.values()) {
      if (ws.bufferedAmount > TOO_SLOW) ws.terminate();
      else if (ws.bufferedAmount > SLOW) ws.unsubscribe(`${room.name}/cursors`);
    }
  }
}
setInterval(lookForSlow, 250);

/** A receiver has caught up. */
export function caughtUp(ws, { room }) {
  ws.subscribe(`${room.name}/cursors`);
}

/** `/`: who is there; `/projects/NAME/FILE`: the file as saved. */
export function page(request) {
  const { pathname } = new URL(request.url);
  const [, , name, file] = pathname.split("/");
  if (pathname === "/") return Response.json(Object.fromEntries([...rooms].map(([name, { users }]) => [name, [...users.keys()]])));
  const saved = rooms.get(name)?.project.saved(file);
  return saved === undefined ? new Response("no such file\n", { status: 404 }) : new Response(saved);
}
