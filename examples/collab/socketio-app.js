// The server of app.js for users who speak Socket.IO 4, by WebSocket alone:
//
//   onrush serve examples/collab/socketio-app.js
//   onrush run --serve=examples/collab/socketio-app.js examples/collab/socketio-load.js
//
// A user connects with `io(address, { transports: ["websocket"], auth: { project: "NAME", user: "ada" } })` and emits what app.js takes,
// with the name of the event beside it: emit("edit", { sent: 1789000000000000, file: "main.js", … }, (answer) => …). What app.js answers to
// whoever asks is the acknowledgement here: { version } of an edit, { message } of what is refused.
//
// It shows how little of Socket.IO a server needs: Engine.IO's handshake and pings, and the packets of one namespace. Variables belong
// to one worker: run it with one (the default).
import { Refused } from "./project.js";
import { MOST_MESSAGE, MOST_MISTAKES, caughtUp, enter, handle, leave, page } from "./room.js";

const PING_INTERVAL = 25_000;
const PING_TIMEOUT = 20_000;
// Engine.IO's packets, and behind its mark of a message Socket.IO's.
const OPEN = "0", CLOSE = "1", PING = "2", PONG = "3";
const CONNECT = "40", DISCONNECT = "41", EVENT = "42", ACK = "43", CONNECT_ERROR = "44";

let made = 0;

const event = (name, body) => EVENT + JSON.stringify([name, body]);

/** Asks whether somebody is still there, and ends the connection of who is not. */
function ping(ws) {
  ws.send(PING);
  ws.data.timer = setTimeout(() => ws.close(1001, "no answer to a ping"), PING_TIMEOUT);
}

function alive(ws) {
  clearTimeout(ws.data.timer);
  ws.data.timer = setTimeout(() => ping(ws), PING_INTERVAL);
}

/** A user asks to be let in. */
function connect(ws, auth) {
  const { project, user } = auth ?? {};
  const { room, why } = enter(ws, project, user);
  if (why) return ws.send(CONNECT_ERROR + JSON.stringify({ message: why[1] }));
  ws.data.member = { room, name: user };
  ws.send(CONNECT + JSON.stringify({ sid: `${ws.data.sid}-member` }));
  ws.send(event("welcome", { user, users: [...room.users.keys()], files: room.project.list() }));
  ws.publish(room.name, event("joined", { user }));
}

function disconnect(ws) {
  const { member } = ws.data;
  ws.data.member = undefined;
  if (member && leave(ws, member)) ws.publish(member.room.name, event("left", { user: member.name }));
}

/** An event, with a number when it is to be acknowledged. */
function take(ws, id, [type, message]) {
  const answer = (body) => id !== "" && ws.send(`${ACK}${id}${JSON.stringify([body])}`);
  try {
    const { topic, others, asker } = handle(ws.data.member, type, message ?? {});
    if (others) ws.publish(topic, event(type, others));
    answer(asker ?? {});
    ws.data.mistakes = 0;
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    ws.data.mistakes += 1;
    if (ws.data.mistakes > MOST_MISTAKES) ws.close(1008, "too many mistakes");
    else answer({ message: error.message });
  }
}

/** What the packet behind Engine.IO's mark of a message says; nothing for what is no packet of the namespace `/`. */
function parse(packet) {
  const [, type, id, json] = /^(4[0-2])(\d*)([[{].*)?$/s.exec(packet) ?? [];
  try {
    const data = json === undefined ? undefined : JSON.parse(json);
    const isFit = type === EVENT ? Array.isArray(data) : id === "";
    return type && isFit ? { type, id, data } : undefined;
  } catch {
    return undefined;
  }
}

export default {
  fetch(request) {
    const isPolling = new URL(request.url).pathname === "/socket.io/";
    return isPolling ? new Response("WebSocket alone: give the client transports: ['websocket']\n", { status: 400 }) : page(request);
  },

  websocket: {
    maxMessage: MOST_MESSAGE,

    open(ws) {
      const { pathname, searchParams } = new URL(ws.request.url);
      if (pathname !== "/socket.io/" || searchParams.get("EIO") !== "4") return ws.close(1008, "connect with a client of Socket.IO 4");
      const sid = `session-${made++}`;
      ws.data = { sid, mistakes: 0, member: undefined, timer: undefined };
      const handshake = { sid, upgrades: [], pingInterval: PING_INTERVAL, pingTimeout: PING_TIMEOUT, maxPayload: MOST_MESSAGE };
      ws.send(OPEN + JSON.stringify(handshake));
      alive(ws);
    },

    message(ws, packet) {
      if (!ws.data) return;
      if (packet === PONG) return alive(ws);
      if (packet === CLOSE) return ws.close(1000, "");
      const found = typeof packet === "string" ? parse(packet) : undefined;
      if (found?.type === CONNECT && !ws.data.member) connect(ws, found.data);
      else if (found?.type === EVENT && ws.data.member) take(ws, found.id, found.data);
      else if (found?.type === DISCONNECT) disconnect(ws);
      else ws.close(1008, "no packet that is expected here");
    },

    drain(ws) {
      if (ws.data?.member) caughtUp(ws, ws.data.member);
    },

    close(ws) {
      if (!ws.data) return;
      clearTimeout(ws.data.timer);
      disconnect(ws);
    },
  },
};
