/**
 * How long messages take from one user to another, and where the time goes.
 *
 * ```js
 * import ws from 'k6/ws';
 * import { stamp, record } from 'onrush/delay';
 *
 * export default function () {
 *   ws.connect('wss://app.example/room', (socket) => {
 *     socket.on('open', () => socket.send(JSON.stringify({ event: 'edit', stamps: [stamp('edit')] })));
 *     socket.on('message', (text) => {
 *       const { event, stamps } = JSON.parse(text);
 *       record(event, stamps);
 *     });
 *   });
 * }
 * ```
 *
 * A server that adds its own two stamps, when the message came in and when it went out again, splits the delay into the hops `up`,
 * `inside` and `down`. Apps of `onrush serve` can import this module for it.
 *
 * Metrics: Trend `message_delay` in milliseconds, tag `event`; Trend `message_hop` in milliseconds, tags `event` and `hop`; Counter
 * `message_sends`, tag `event`. Each event has its own lines in the summary, `message_delay{event:edit}`,
 * `message_hop{event:edit,hop:up}` and `message_sends{event:edit}`, for the first 64 events of a test.
 *
 * Stamps are whole microseconds since 1970, by the clock of the machine that makes them; `record` takes other units too. Delays
 * between machines are as exact as their clocks agree. The whole delay between users of one machine needs only one clock.
 */

/**
 * The time now. With an event's name it also counts one message of that event in `message_sends`: call it when you send.
 *
 * @throws TypeError when the event is not a name, and with an event in init code.
 */
export function stamp(event?: string): number;

/**
 * When the message of the running handler reached this machine. The time is the kernel's where it has one, so a busy script or
 * processor adds nothing. It works in the handler of a message. With `k6/websockets`, and in apps, it also works after an `await`
 * that needs no timer, request or other message.
 *
 * @throws TypeError outside of handlers of messages.
 */
export function arrival(): number;

/**
 * Adds a received message to `message_delay`, and with three stamps its hops to `message_hop`.
 *
 * @param stamps when it was sent, or `[sent]`, or `[sent, server in, server out]`.
 * @param received when it arrived; by default `arrival()`.
 * @param tags for these samples, besides `event` and `hop`.
 * @throws TypeError for stamps that are not finite or more than a day away from now, for two stamps or more than three, in init
 *   code, and in apps.
 */
export function record(event: string, stamps: number | number[], received?: number, tags?: Tags): void;

/**
 * The same with options, for stamps of another unit, such as those of `Date.now()`:
 *
 * ```js
 * record(message.event, message.sentAt, { unit: 'ms' });
 * ```
 *
 * A clock of whole milliseconds rounds down, so each delay is up to 1 ms too long.
 */
export function record(event: string, stamps: number | number[], options: RecordOptions): void;

/** Tags of samples. */
export interface Tags {
  [name: string]: string | number | boolean;
}

/** What `record` takes besides event and stamps. */
export interface RecordOptions {
  /** Unit of the stamps and of `received`; by default microseconds. */
  unit?: "us" | "ms" | "s" | "ns";
  /** When it arrived, in the same unit; by default `arrival()`. */
  received?: number;
  /** For these samples, besides `event` and `hop`. */
  tags?: Tags;
}
