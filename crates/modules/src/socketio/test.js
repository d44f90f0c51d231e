// Sockets over polling, WebSocket and the upgrade: events, acknowledgements, binary values, namespaces, rooms, reconnecting, and what
// goes wrong, against app.js, whose address is in TARGET. It passes against npm's socket.io as well, but for what `isOurs` guards.
// parity: skip k6 has no such module
import { check } from 'k6';
import socketio, { Manager, Socket, connect, io } from 'onrush/socketio';
import { thrown } from '../../../../tests/lib/assert.js';

export const options = {
  thresholds: {
    checks: ['rate==1'],
    socketio_connecting: ['max>0'],
    socketio_ack: ['max>0'],
    socketio_events_sent: ['count>25'],
    socketio_events_received: ['count>10'],
    // One name for all sessions.
    'http_reqs{part:polling}': ['count>5'],
  },
};

const base = __ENV.BASE || __ENV.TARGET;
const isOurs = __ENV.BASE === undefined;
const wait = (ms) => new Promise((r) => setTimeout(r, ms));
const once = (s, e) => new Promise((r) => s.once(e, (...a) => r(a)));

export default async function () {
  check(socketio, {
    exports: (m) => m.io === io && connect === io && typeof Manager === 'function' && typeof Socket === 'function',
    'no address': () => thrown(() => io('/admin')) === 'GoError: io: the address is "/admin", expected one with http, https, ws or wss',
    'no transport': () => thrown(() => io(base, { transports: ['quic'] })).includes('transports has "quic", expected'),
  });
  for (const transports of [['websocket'], ['polling'], ['polling', 'websocket']]) {
    const tag = transports.join('+');
    const s = io(base, { transports, tags: { part: tag }, query: { a: 'b&c' }, auth: { token: 't' }, extraHeaders: { 'X-Own': 'mine' }, forceNew: true });
    check(s, { [`${tag} new`]: (s) => !s.connected && s.id === undefined && s.active });
    await once(s, 'connect');
    check(s, { [`${tag} connected`]: (s) => s.connected && s.id.length > 5 });
    s.emit('echo', 'a', 5, { x: [1, null] });
    const got = await once(s, 'echo');
    check(got, { [`${tag} echo`]: (g) => JSON.stringify(g) === '["a",5,{"x":[1,null]}]' });
    const ack = await s.emitWithAck('echo', 'x', new Uint8Array([1, 2, 3]).buffer, { deep: new Uint8Array([9, 8]) });
    check(ack, { [`${tag} ack`]: (a) => a === 'x' });
    s.emit('echo', new Uint8Array([1, 2, 3]), { deep: [new Uint8Array([9, 8]).buffer] }, 'ü');
    const [bin, deep, text] = await once(s, 'echo');
    check(0, { [`${tag} binary`]: () => bin instanceof ArrayBuffer && new Uint8Array(bin).join() === '1,2,3' && new Uint8Array(deep.deep[0]).join() === '9,8' && text === 'ü' });
    const hs = await s.emitWithAck('handshake');
    check(hs, { [`${tag} handshake`]: (h) => h.auth.token === 't' && h.query.a === 'b&c' && h.query.EIO === '4' && (isOurs || h.header === 'mine') });
    let err; try { await s.timeout(50).emitWithAck('never', 1); } catch (e) { err = e; }
    check(err, { [`${tag} timeout`]: (e) => e.message === 'operation has timed out' });
    s.once('question', (n, answer) => answer(n + 1));
    s.emit('ask');
    check(await once(s, 'answered'), { [`${tag} asked`]: (a) => a[0] === 6 });
    // Longer than a ping may take.
    await wait(isOurs ? 2000 : 900);
    check(s, { [`${tag} alive`]: (s) => s.connected });
    const t = await s.emitWithAck('transport');
    check(t, { [`${tag} transport`]: (t) => t === transports[transports.length - 1] });
    const gone = once(s, 'disconnect');
    s.emit('kick');
    const [why] = await gone;
    check(why, { [`${tag} kicked`]: (w) => w === 'io server disconnect' && !s.connected });
    s.disconnect();
  }
  // namespaces over one connection
  const a = io(base, { transports: ['websocket'] });
  const b = io(`${base}/admin`, { auth: (cb) => cb({ token: 'good' }) });
  check(0, { 'one manager': () => a.io === b.io });
  const [hi] = await once(b, 'hi');
  check(hi, { hi: (h) => h === '/admin' });
  const c = io(`${base}/admin`, { auth: { token: 'bad' }, transports: ['websocket'] });
  const [e] = await once(c, 'connect_error');
  check(e, { refused: (e) => e.message === 'not authorized' && e.data.why === 'token' && !c.active });
  const d = io(`${base}/none`, { transports: ['websocket'], forceNew: true });
  const [e2] = await once(d, 'connect_error');
  check(e2, { 'no namespace': (e) => e.message === 'Invalid namespace' });
  d.disconnect();
  // rooms
  const r = io(base, { transports: ['websocket'], forceNew: true });
  await a.emitWithAck('join', 'room'); await r.emitWithAck('join', 'room');
  r.emit('say', 'room', 'hello');
  check(await once(a, 'said'), { said: (m) => m[0] === 'hello' });
  // reconnect
  const events = [];
  r.io.opts.reconnectionDelay = 50;
  for (const n of ['reconnect', 'reconnect_attempt', 'close', 'open']) r.io.on(n, () => events.push(n));
  r.on('disconnect', (why) => events.push(why));
  r.emit('drop');
  await once(r, 'disconnect');
  r.emit('echo', 'buffered');
  check(await once(r, 'echo'), { buffered: (m) => m[0] === 'buffered' });
  check(events.join(), { events: (e) => e === 'transport close,close,reconnect_attempt,open,reconnect' });
  const f = io('http://127.0.0.1:1', { transports: ['websocket'], reconnectionAttempts: 2, reconnectionDelay: 20 });
  let errors = 0; f.on('connect_error', () => errors++);
  await once(f.io, 'reconnect_failed');
  check(errors, { failed: (n) => n === 3 });
  f.disconnect();
  for (const s of [a, b, c, r]) s.disconnect();
  // once, off, volatile, any
  const v = io(base, { transports: ['websocket'], forceNew: true, autoConnect: false });
  const heard = [];
  v.volatile.emit('echo', 'dropped');
  v.emit('echo', 'kept');
  v.onAny((name, ...args) => heard.push(`any ${name} ${args}`));
  v.onAnyOutgoing((name) => heard.push(`out ${name}`));
  v.on('echo', () => heard.push('off'));
  v.off('echo');
  check(v, { 'not asked to connect': (s) => !s.active, reserved: (s) => thrown(() => s.emit('connect')) === 'GoError: "connect" is a reserved event name' });
  v.connect();
  await once(v, 'echo');
  check(heard.join(), { 'in order': (h) => h === 'out echo,any echo kept' });
  v.disconnect();
  check(v, { 'closed by us': (s) => s.disconnected && !s.active });
  // Packets take a short way; a listener of any event makes them take the long one, which must say the same.
  const p = io(base, { transports: ['websocket'], forceNew: true });
  await once(p, 'connect');
  const forms = [[], ['ü\u0000"'], [undefined, NaN, true], [new Date(0)], [{ toJSON: () => 'own' }], [1, 2, 3, 4, 5]];
  async function echoes() {
    const got = [];
    for (const form of forms) {
      p.emit('echo', ...form);
      got.push(JSON.stringify(await once(p, 'echo')));
    }
    return got.join();
  }
  const expected = '[],["ü\\u0000\\""],[null,null,true],["1970-01-01T00:00:00.000Z"],["own"],[1,2,3,4,5]';
  check(await echoes(), { 'the short way': (got) => got === expected });
  const any = () => {};
  p.onAny(any);
  check(await echoes(), { 'the long way': (got) => got === expected });
  p.offAny(any);
  const q = io(`${base}/admin`, { transports: ['websocket'], forceNew: true, auth: { token: 'good' } });
  await once(q, 'hi');
  const show = (value) => JSON.stringify(value, (_, part) => (part instanceof ArrayBuffer ? `<${new Uint8Array(part)}>` : part));
  const bytes = new Uint8Array([1, 2, 3, 4]);
  const values = [[bytes.buffer], [bytes.subarray(1, 3), { deep: [[bytes]] }, 'ü'], [{ _placeholder: 1 }, new DataView(bytes.buffer, 3), null]];
  async function answers(s) {
    const got = [];
    for (const form of [...forms, ...values]) {
      s.emit('echo', ...form, (...answer) => got.push(['ack', answer]));
      s.emit('echo', ...form);
      got.push(['event', await once(s, 'echo')]);
    }
    return got;
  }
  for (const [name, s] of [['root', p], ['namespace', q]]) {
    const [short, long] = [await answers(s), s.onAny(any) && (await answers(s))];
    s.offAny(any);
    const sent = forms.length + values.length;
    check(short, {
      [`${name}: both ways say the same`]: () => show(short) === show(long),
      [`${name}: in order, each once`]: () => short.length === 2 * sent && short.every(([kind], index) => kind === ['ack', 'event'][index % 2]),
      [`${name}: binary values`]: () => show(short.at(-3)[1]) === '["<2,3>",{"deep":[["<1,2,3,4>"]]},"ü"]',
    });
  }
  // Asked on one way, answered on the other; numbers of acknowledgements are not mixed up.
  const crossed = [];
  p.emit('echo', 'short', (value) => crossed.push(value));
  p.timeout(5000).emit('echo', 'limited', (error, value) => crossed.push(error ?? value));
  p.onAny(any);
  p.emit('echo', 'long', function (value) { crossed.push(value, this === p); });
  check(await p.emitWithAck('echo', 'last'), { 'and goes on': (value) => value === 'last' });
  p.offAny(any);
  check(crossed.join(), { 'crossed ways': (c) => c === 'short,limited,long,true' });
  p.emit('echo', 1, () => p.emit('echo', 2, () => p.emit('echo', 'within')));
  check(await once(p, 'echo'), { 'an event from a callback': (e) => e[0] === 'within' });
  const detached = new ArrayBuffer(4);
  detached.transfer();
  check(thrown(() => p.emit('echo', detached)), { 'a detached buffer': (t) => t.startsWith('TypeError') });
  q.disconnect();
  const called = [];
  p.on('echo', function () {
    called.push(this === p);
  });
  p.on('echo', () => called.push('second'));
  p.emit('echo');
  await once(p, 'echo');
  check(called, { 'both listeners': (c) => c.join() === 'true,second' });
  p.emit('nobody', 1);
  p.emit('constructor', 1);
  check(await p.emitWithAck('echo', 1), { 'after events that nobody takes': (a) => a === 1 });
  p.disconnect();
  p.emit('echo', 'after the end');
  check(p, { 'kept for later': (s) => s._toSend.length === 1 });
  if (!isOurs) return;

  const w = io(base, { transports: ['websocket'], forceNew: true, reconnection: false });
  await once(w, 'connect');
  const wrong = once(w, 'disconnect');
  w.emit('wrong');
  check(await wrong, { 'what is no packet': ([why, error]) => why === 'parse error' && error.message === 'unknown packet type x' });
  for (const [kind, reason] of [['torn', 'got plaintext data when reconstructing a packet'], ['misplaced', 'illegal attachments'], ['stray', 'got binary data when not reconstructing a packet']]) {
    const s = io(base, { transports: ['websocket'], forceNew: true, reconnection: false });
    await once(s, 'connect');
    const ended = once(s, 'disconnect');
    s.emit(kind);
    check(await ended, { [kind]: ([why, error]) => why === 'parse error' && error.message === reason });
  }
  const t = io(base, { transports: ['websocket'], forceNew: true, reconnection: false });
  await once(t, 'connect');
  const silent = once(t, 'disconnect');
  t.emit('silent');
  check(await silent, { 'no ping': ([why]) => why === 'ping timeout' });
}
