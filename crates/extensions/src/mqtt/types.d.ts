/**
 * MQTT 3.1.1: a `Client` whose events come on the user's event loop, as in k6's extension of that name.
 *
 * The iteration does not end before its clients have: call `end()`. Where the iteration is cut short, a client says goodbye to the
 * broker without calling the script. Connections follow the test's rules for names, addresses, TLS and links, and their bytes count as
 * `data_sent` and `data_received`. MQTT in init code is refused.
 *
 * A connection that is lost is made again: after 1 s, then after pauses that double, up to 60 s. Messages of QoS 1 and 2 that were not
 * acknowledged are sent again. With `clean_session` the broker has forgotten the subscriptions: subscribe in the listener of
 * `connect`, which is called for each connection. A broker that does not answer a ping within 10 s counts as gone.
 *
 * A method without `Async` waits for the broker where the broker answers (`connect`, `subscribe`, `unsubscribe`, `publish` with QoS 1
 * and 2). Its error goes to the listeners of `error`; where there is none, it is thrown. A method with `Async` gives a promise.
 *
 * Metrics are counters: `mqtt_calls` and `mqtt_errors`, with the tag `method`; `mqtt_message_sent`, `mqtt_message_received`, and the
 * bytes of their payloads, `mqtt_data_sent` and `mqtt_data_received`. `tags` of the client, of the connection and of a call are added.
 *
 * Differs from k6: unknown options are named in a warning; `connectAsync` is ours.
 *
 * ```js
 * import { Client } from "k6/x/mqtt";
 *
 * export default function () {
 *   const client = new Client();
 *   client.on("connect", () => {
 *     client.subscribe("greeting");
 *     client.publish("greeting", "hello");
 *   });
 *   client.on("message", (topic, payload) => {
 *     console.log(topic, String.fromCharCode(...new Uint8Array(payload)));
 *     client.end();
 *   });
 *   client.connect("mqtt://127.0.0.1:1883");
 * }
 * ```
 */

/** How sure a delivery is. */
export const QoS: {
  /** Sent once, and perhaps lost: 0. */
  readonly AtMostOnce: 0;
  /** Acknowledged, and perhaps delivered twice: 1. */
  readonly AtLeastOnce: 1;
  /** Delivered once: 2. */
  readonly ExactlyOnce: 2;
};

/** One of `QoS`. */
export type Quality = 0 | 1 | 2;

/** Name and password. */
export interface Credentials {
  /** The user of the broker. */
  username?: string;
  /** Its password; without a name it is not sent. */
  password?: string;
}

/** What carries tags. */
export interface HasTags {
  /** Tags of its samples. */
  tags?: Record<string, string | number | boolean>;
}

/** What the broker publishes when the client is gone without a word. */
export interface Will {
  /** Without wildcards. */
  topic: string;
  /** @default "" */
  payload?: string | ArrayBuffer;
  /** @default 0 */
  qos?: Quality;
  /** Whether the broker keeps it for those who come later. @default false */
  retain?: boolean;
}

/** Options of a client. */
export interface ClientOptions extends HasTags, Credentials {
  /** One for each client of a broker. @default "", and the broker chooses */
  client_id?: string;
  /** The same. */
  clientId?: string;
  /** Called at each `connect`, for name and password. */
  credentials_provider?: () => Credentials;
  /** The last will. */
  will?: Will;
}

/** Options of a connection. */
export interface ConnectOptions extends HasTags {
  /** Seconds of silence before a ping; 0: no pings. @default 60 */
  keepalive?: number;
  /** Milliseconds for each broker, its answer included. @default 30000 */
  connect_timeout?: number;
  /** Whether the broker begins a session; `false` needs a `client_id`. @default true */
  clean_session?: boolean;
  /** URLs of brokers, tried in their order after the first argument. */
  servers?: string[];
}

/** Options of a message. */
export interface PublishOptions extends HasTags {
  /** @default 0 */
  qos?: Quality;
  /** Whether the broker keeps it for those who come later. @default false */
  retain?: boolean;
}

/** Options of a subscription. */
export interface SubscribeOptions extends HasTags {
  /** The most that the broker uses. @default 0 */
  qos?: Quality;
}

/** What `error` listeners get, what is thrown, and what promises are rejected with. */
export interface MQTTError extends Error {
  name: "MQTTError";
  /** The method that failed; `connect` for a connection that was lost, or not made again. */
  method: string;
}

/**
 * A client. Addresses begin with `mqtt://` or `tcp://` (port 1883), `mqtts://`, `ssl://` or `tls://` (TLS by the test's options, port
 * 8883), `ws://` or `wss://`; without one of them they mean `mqtt://`. They may bring a name and a password.
 */
export class Client {
  /** Connects nothing yet. */
  constructor(options?: ClientOptions);
  /** Whether there is a connection now. */
  readonly connected: boolean;
  /** Connects, and waits for the broker's word. A client that is connected throws. */
  connect(url: string | ConnectOptions, options?: ConnectOptions): void;
  /** The same with a promise. Not in k6. */
  connectAsync(url: string | ConnectOptions, options?: ConnectOptions): Promise<void>;
  /** Ends a connection without the event `end`, and connects as the last time. */
  reconnect(): void;
  /** Waits up to 1 s for acknowledgements, says goodbye and closes. Does nothing where there is no connection. */
  end(options?: HasTags): void;
  /** The same with a promise. */
  endAsync(options?: HasTags): Promise<void>;
  /** Subscribes to topics; `+` stands for one level, `#` for all that follow. */
  subscribe(topics: string | string[], options?: SubscribeOptions): void;
  /** The same with a promise. */
  subscribeAsync(topics: string | string[], options?: SubscribeOptions): Promise<void>;
  /** Ends subscriptions. */
  unsubscribe(topics: string | string[], options?: HasTags): void;
  /** The same with a promise. */
  unsubscribeAsync(topics: string | string[], options?: HasTags): Promise<void>;
  /**
   * Publishes. Without a connection, a message of QoS 1 or 2 waits for the next one, and one of QoS 0 fails. With QoS 0 the call waits
   * when more than a mebibyte was not sent yet.
   */
  publish(topic: string, payload?: string | ArrayBuffer | ArrayBufferView, options?: PublishOptions): void;
  /** The same with a promise, which with QoS 0 is kept when the message was sent. */
  publishAsync(topic: string, payload?: string | ArrayBuffer | ArrayBufferView, options?: PublishOptions): Promise<void>;
  /** There is a connection, the first or another. */
  on(event: "connect", listener: () => void): void;
  /** A message has come. */
  on(event: "message", listener: (topic: string, payload: ArrayBuffer) => void): void;
  /** `end` or `endAsync` is done. */
  on(event: "end", listener: () => void): void;
  /** The client tries to connect again. */
  on(event: "reconnect", listener: () => void): void;
  /** Something failed. */
  on(event: "error", listener: (error: MQTTError) => void): void;
}
