// The packets of the Socket.IO protocol (revision 5): to text and buffers, and back. Binary values travel as attachments behind
// the text, which has numbered placeholders for them.
// `plainText(prefix, value)` is native: the value as JSON behind the prefix, or undefined when it has more than plain data in it.
(function (plainText) {
  const CONNECT = 0, DISCONNECT = 1, EVENT = 2, ACK = 3, CONNECT_ERROR = 4, BINARY_EVENT = 5, BINARY_ACK = 6;

  function isBinary(value) {
    return value instanceof ArrayBuffer || ArrayBuffer.isView(value);
  }

  function hasBinary(value) {
    if (value === null || typeof value !== "object") return false;
    if (Array.isArray(value)) return value.some(hasBinary);
    if (isBinary(value)) return true;
    if (typeof value.toJSON === "function") return hasBinary(value.toJSON());
    return Object.values(value).some(hasBinary);
  }

  function bytesOf(value) {
    const buffer = value instanceof ArrayBuffer ? value : value.buffer;
    if (buffer.detached) throw new TypeError("the buffer of a binary value is detached");
    if (value === buffer) return value;
    return value.buffer.slice(value.byteOffset, value.byteOffset + value.byteLength);
  }

  /** The value with placeholders for its binary parts, which go to `attachments`. */
  function takeApart(value, attachments) {
    if (value === null || typeof value !== "object") return value;
    if (isBinary(value)) return { _placeholder: true, num: attachments.push(bytesOf(value)) - 1 };
    if (Array.isArray(value)) return value.map((element) => takeApart(element, attachments));
    if (typeof value.toJSON === "function") return takeApart(value.toJSON(), attachments);
    return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, takeApart(part, attachments)]));
  }

  function putTogether(value, attachments) {
    if (value === null || typeof value !== "object") return value;
    if (value._placeholder === true) {
      const attachment = attachments[value.num];
      if (attachment === undefined) throw new Error("illegal attachments");
      return attachment;
    }
    for (const key of Object.keys(value)) value[key] = putTogether(value[key], attachments);
    return value;
  }

  /** What is sent: gives a text behind `mark`, and then the attachments that follow it, to `send`. */
  function encode(mark, type, namespace, id, data, send) {
    const head = namespace === "/" ? id : `${namespace},${id}`;
    if (data === undefined) {
      send(`${mark}${type}${head}`);
      return;
    }
    const text = plainText(`${mark}${type}${head}`, data);
    if (text !== undefined) {
      send(text);
      return;
    }
    if ((type !== EVENT && type !== ACK) || !hasBinary(data)) {
      send(`${mark}${type}${head}${JSON.stringify(data)}`);
      return;
    }
    const attachments = [];
    const rest = JSON.stringify(takeApart(data, attachments));
    send(`${mark}${type + BINARY_EVENT - EVENT}${attachments.length}-${head}${rest}`);
    attachments.forEach((attachment) => send(attachment));
  }

  function isEvent(data) {
    return Array.isArray(data) && (typeof data[0] === "string" || typeof data[0] === "number");
  }

  function isFit(type, data) {
    switch (type) {
      case CONNECT: return data === undefined || (data !== null && typeof data === "object");
      case DISCONNECT: return data === undefined;
      case CONNECT_ERROR: return typeof data === "string" || (data !== null && typeof data === "object");
      case EVENT: case BINARY_EVENT: return isEvent(data);
      default: return Array.isArray(data);
    }
  }

  function parse(text) {
    const parts = /^([0-6])(?:(\d+)-)?(\/[^,]*)?,?(\d+)?/.exec(text);
    if (parts === null) throw new Error(`unknown packet type ${text[0]}`);
    const type = Number(parts[1]);
    const isBinaryPacket = type === BINARY_EVENT || type === BINARY_ACK;
    if (isBinaryPacket !== (parts[2] !== undefined)) throw new Error("illegal attachments");
    const rest = text.slice(parts[0].length);
    const data = rest === "" ? undefined : JSON.parse(rest);
    if (!isFit(type, data)) throw new Error("invalid payload");
    const id = parts[4] === undefined ? undefined : Number(parts[4]);
    return { type, namespace: parts[3] ?? "/", id, data, awaited: Number(parts[2] ?? 0) };
  }

  /** Puts packets together from what arrives; throws when that is no packet. */
  class Decoder {
    constructor(found) {
      this.found = found;
      this.packet = undefined;
      this.attachments = [];
    }

    /** Takes a text, which is a packet from `start` on, or an attachment. */
    add(data, start) {
      if (typeof data !== "string") {
        if (this.packet === undefined) throw new Error("got binary data when not reconstructing a packet");
        this.attachments.push(data);
      } else {
        if (this.packet !== undefined) throw new Error("got plaintext data when reconstructing a packet");
        this.packet = parse(data.slice(start));
      }
      if (this.attachments.length < this.packet.awaited) return;
      const { packet, attachments } = this;
      this.packet = undefined;
      this.attachments = [];
      if (packet.awaited > 0) {
        packet.data = putTogether(packet.data, attachments);
        packet.type -= BINARY_EVENT - EVENT;
      }
      this.found(packet.type, packet.namespace, packet.id, packet.data);
    }
  }

  return { CONNECT, DISCONNECT, EVENT, ACK, CONNECT_ERROR, encode, Decoder };
})
