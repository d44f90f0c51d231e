// The fifty people of load.js with Socket.IO:
//
//   onrush run --serve=examples/collab/socketio-app.js --save out examples/collab/socketio-load.js
//
// -e TARGET (a server elsewhere), and what person.js takes, which has what the users do. What a user asks for comes as the acknowledgement of
// the event, so it is recorded there.
import { stamp } from "onrush/delay";
import { io } from "onrush/socketio";
import { Person, options, play } from "./person.js";

export { options };

const TARGET = __ENV.TARGET || "http://127.0.0.1:8080";

class User extends Person {
  constructor(user, project) {
    super();
    this.socket = io(TARGET, { transports: ["websocket"], auth: { user, project }, forceNew: true, reconnection: false });
    this.socket.on("welcome", (message) => this.welcome(message));
    for (const type of ["cursor", "edit", "comment", "question"]) this.socket.on(type, (message) => this.hear(type, message));
    this.socket.on("connect_error", ({ message }) => this.enter(message));
    this.socket.on("disconnect", (why) => {
      this.ended = why === "io client disconnect" ? "ours" : why;
      this.enter(why);
      this.leave();
    });
  }

  send(type, body) {
    this.socket.emit(type, { sent: stamp(type), ...body }, (answer) => {
      if (answer.message !== undefined) this.refuse(answer.message);
      else this.hear(type, answer);
    });
  }

  close() {
    this.socket.disconnect();
  }
}

export default function () {
  return play((name, project) => new User(name, project));
}
