// The server of an IDE for several people: projects with files, cursors, edits, comments. Run it with
//
//   onrush serve examples/collab/app.js
//   onrush run --serve=examples/collab/app.js examples/collab/load.js
//
// A user connects to ws://…/projects/NAME?user=ada and sends JSON, one object a message:
//
//   { "type": "edit", "sent": 1789000000000000, "file": "main.js", "version": 7, "line": 3, "remove": 1, "insert": ["x"] }
//
// cursor, edit, comment and question go to everybody else in the project; save, list and open are answered to whoever asks, and so
// is an edit, with the version it became. Whatever goes out has `stamps`: when the user sent (`sent`, as given), when it arrived
// here and when it left, in microseconds since 1970. So the receiver can tell the way up, the work here and the way down apart.
//
// Nothing grows without a limit: projects, users, files, lines, messages, mistakes, and what waits for a slow receiver.
// Variables belong to one worker: run it with one (the default), or put a project's name into the address of its own server.
import { arrival, stamp } from "onrush/delay";
import { Project, Refused } from "./project.js";

const MOST_PROJECTS = 1000;
const MOST_USERS = 500;
const MOST_MESSAGE = 64 * 1024;
const MOST_MISTAKES = 20;
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

function take(ws, text) {
  if (typeof text !== "string") throw new Refused("a message is binary, expected JSON");
  let message;
  try {
    message = JSON.parse(text);
  } catch (error) {
    throw new Refused(`a message is not JSON: ${error.message}`);
  }
  const handler = Object.hasOwn(events, message?.type) ? events[message.type] : undefined;
  if (!handler) throw new Refused(`type is ${describe(message?.type)}, expected ${Object.keys(events).join(", ")}`);

  const { room, name } = ws.data;
  const { others, asker } = handler(room, message);
  const stamps = () => (Number.isFinite(message.sent) ? [message.sent, arrival(), stamp()] : undefined);
  const told = (body) => JSON.stringify({ type: message.type, user: name, stamps: stamps(), ...body });
  if (others) ws.publish(message.type === "cursor" ? `${room.name}/cursors` : room.name, told(others));
  // The answer to an edit is a receipt, not an event that somebody waits for.
  if (asker) ws.send(others ? JSON.stringify({ type: "applied", ...asker }) : told(asker));
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

export default {
  /** `/`: who is there; `/projects/NAME/FILE`: the file as saved. */
  fetch(request) {
    const { pathname } = new URL(request.url);
    const [, , name, file] = pathname.split("/");
    if (pathname === "/") return Response.json(Object.fromEntries([...rooms].map(([name, { users }]) => [name, [...users.keys()]])));
    const saved = rooms.get(name)?.project.saved(file);
    return saved === undefined ? new Response(`no such file; a WebSocket connects to /projects/NAME?user=ada\n`, { status: 404 }) : new Response(saved);
  },

  websocket: {
    maxMessage: MOST_MESSAGE,

    open(ws) {
      const { pathname, searchParams } = new URL(ws.request.url);
      const [, project] = /^\/projects\/([\w-]{1,64})$/.exec(pathname) ?? [];
      const name = searchParams.get("user") ?? "";
      if (!project || !/^[\w-]{1,64}$/.test(name)) return ws.close(1008, "connect to /projects/NAME?user=NAME; names are of letters, digits, - and _");
      const room = roomOf(project);
      if (!room || room.users.size >= MOST_USERS) return ws.close(1013, room ? "the project is full" : "the server is full");
      // Somebody who comes again, because the network had gone, takes the place of what is left of the first time.
      room.users.get(name)?.close(4000, "connected again from elsewhere");
      ws.data = { room, name, mistakes: 0 };
      room.users.set(name, ws);
      ws.subscribe(room.name);
      ws.subscribe(`${room.name}/cursors`);
      ws.send(JSON.stringify({ type: "welcome", user: name, users: [...room.users.keys()], files: room.project.list() }));
      ws.publish(room.name, JSON.stringify({ type: "joined", user: name }));
    },

    message(ws, message) {
      if (!ws.data) return;
      try {
        take(ws, message);
        ws.data.mistakes = 0;
      } catch (error) {
        if (!(error instanceof Refused)) throw error;
        ws.data.mistakes += 1;
        if (ws.data.mistakes > MOST_MISTAKES) return ws.close(1008, "too many mistakes");
        ws.send(JSON.stringify({ type: "error", message: error.message }));
      }
    },

    drain(ws) {
      if (ws.data) ws.subscribe(`${ws.data.room.name}/cursors`);
    },

    close(ws) {
      if (!ws.data) return;
      const { room, name } = ws.data;
      if (room.users.get(name) !== ws) return;
      room.users.delete(name);
      ws.publish(room.name, JSON.stringify({ type: "left", user: name }));
    },
  },
};
