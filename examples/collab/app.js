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
// room.js has the projects and what users can do in them, project.js the files. socketio-app.js is the same for users of Socket.IO.
// Variables belong to one worker: run it with one (the default), or put a project's name into the address of its own server.
import { Refused } from "./project.js";
import { MOST_MESSAGE, MOST_MISTAKES, caughtUp, enter, handle, leave, page } from "./room.js";

function take(ws, text) {
  if (typeof text !== "string") throw new Refused("a message is binary, expected JSON");
  let message;
  try {
    message = JSON.parse(text);
  } catch (error) {
    throw new Refused(`a message is not JSON: ${error.message}`);
  }
  const { topic, others, asker } = handle(ws.data, message?.type, message);
  const { type } = message;
  if (others) ws.publish(topic, JSON.stringify({ type, ...others }));
  if (asker) ws.send(JSON.stringify({ type: others ? "applied" : type, ...asker }));
}

export default {
  fetch: page,

  websocket: {
    maxMessage: MOST_MESSAGE,

    open(ws) {
      const { pathname, searchParams } = new URL(ws.request.url);
      const [, project] = /^\/projects\/(.*)$/.exec(pathname) ?? [];
      const name = searchParams.get("user");
      const { room, why } = enter(ws, project, name);
      if (why) return ws.close(why[0] ? 1013 : 1008, `${why[1]}; connect to /projects/NAME?user=NAME`);
      ws.data = { room, name, mistakes: 0 };
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
      if (ws.data) caughtUp(ws, ws.data);
    },

    close(ws) {
      if (ws.data && leave(ws, ws.data)) ws.publish(ws.data.room.name, JSON.stringify({ type: "left", user: ws.data.name }));
    },
  },
};
