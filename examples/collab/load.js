// Fifty people work on one project: two events a second each, drawn by weight, every one to everybody else. How long is each under way?
//
//   onrush run --serve=examples/collab/app.js --save out examples/collab/load.js
//
// -e TARGET_WS (a server elsewhere), and what person.js takes, which has what the users do. socketio-load.js is the same by Socket.IO.
//
// What it costs: an event of one user is a message to 49, so 100 events a second are about 3,600 messages to receive. That is where
// the time of the generator goes; so a handler parses the message, records its delay, and does nothing else.
import { WebSocket } from "k6/websockets";
import { stamp } from "onrush/delay";
import { Person, options, play } from "./person.js";

export { options };

const TARGET = __ENV.TARGET_WS || "ws://127.0.0.1:8080";

class User extends Person {
  constructor(name, project) {
    super();
    this.socket = new WebSocket(`${TARGET}/projects/${project}?user=${name}`);
    this.socket.onmessage = ({ data }) => this.take(JSON.parse(data));
    this.socket.onerror = ({ error }) => this.enter(error);
    this.socket.onclose = ({ code, reason }) => {
      this.ended = code === 1000 ? "ours" : `${code} ${reason}`;
      this.enter(`closed with ${code} ${reason}`);
      this.leave();
    };
  }

  /** Every message that comes. */
  take(message) {
    // What an edit of one's own has become.
    if (message.type === "applied") this.hear("edit", message);
    else if (message.type === "error") this.refuse(message.message);
    else if (message.type === "welcome") this.welcome(message);
    else this.hear(message.type, message);
  }

  send(type, body) {
    this.socket.send(JSON.stringify({ type, sent: stamp(type), ...body }));
  }

  close() {
    this.socket.close();
  }
}

export default function () {
  return play((name, project) => new User(name, project));
}
