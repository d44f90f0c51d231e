// How requests come in and answers go out: the app's functions, called for each request, and what they return, carried out.
(parts) => {
  const { answerWhole, describe, drained, fail, finish, flatHeaders, isDropped, isResponse, openFile, peer, push, release, reply, report, responseLines, stream, streamBody } = parts
  const { apply } = Reflect
  const { transfer } = ArrayBuffer.prototype

  // What the server can hold of one message.
  const mostMessage = 64 * 1024 * 1024

  const room = (sink) => new Promise((resolve) => drained(sink, resolve))

  // Sends an iterable's pieces as they come, and no faster than the client takes them.
  const pump = async (sink, pieces) => {
    const iterator = pieces[Symbol.asyncIterator]?.() ?? pieces[Symbol.iterator]()
    try {
      for (;;) {
        let step = iterator.next()
        if (typeof step?.then === 'function') step = await step
        if (step.done) break
        if (push(sink, step.value)) continue
        if (!isDropped(sink)) await room(sink)
        if (isDropped(sink)) {
          await iterator.return?.()
          return
        }
      }
      finish(sink)
    } catch (error) {
      finish(sink, error)
    }
  }

  // Sends what native code did not: bodies that are iterated, and headers that the app has looked at.
  const send = (target, response) => {
    if (!isResponse(response)) throw new TypeError(`fetch() returned ${describe(response)}, expected a Response`)
    const lines = Object.hasOwn(response, 'headers') ? flatHeaders(response.headers) : undefined
    if (answerWhole(target, response, lines)) return
    const body = streamBody(response)
    if (body.locked) throw new TypeError('the body of the response is a stream that is being read already')
    pump(stream(target, response.status, lines ?? responseLines(response)), body)
  }

  const later = (target, promise) => {
    promise.then((response) => {
      try {
        send(target, response)
      } catch (error) {
        fail(target, error)
      }
    }, (error) => fail(target, error))
  }

  const bind = (app, env) => {
    if (typeof app === 'function') throw new TypeError('the default export is a function, expected an object with fetch(request): an app is `export default { fetch(request) { … } }`; a test script is run with `onrush run`')
    if (typeof app !== 'object' || app === null) throw new TypeError(`the default export is ${describe(app)}, expected an object with fetch(request)`)
    if (typeof app.fetch !== 'function') throw new TypeError(`the default export has no function fetch, it has ${Object.keys(app).join(', ') || 'nothing'}; expected { fetch(request) { return new Response(…) } }`)
    for (const name of ['allocate', 'websocket']) {
      const expected = name === 'allocate' ? 'function' : 'object'
      if (app[name] !== undefined && typeof app[name] !== expected) throw new TypeError(`${name} of the default export is ${describe(app[name])}, expected ${expected === 'object' ? 'an object' : 'a function'}`)
    }
    const most = app.websocket?.maxMessage
    if (most !== undefined && !(Number.isInteger(most) && most > 0 && most <= mostMessage)) throw new RangeError(`websocket.maxMessage is ${String(most)}, expected a whole number of bytes from 1 to ${mostMessage}`)
    const context = {
      env,
      waitUntil(promise) { Promise.resolve(promise).catch((error) => report('a promise of waitUntil() was rejected', error)) },
      passThroughOnException() {},
      remoteAddress: (request) => peer(request),
    }
    return {
      app,
      fetch: app.fetch,
      maxMessage: most,
      context,
      // What fetch returned, unless it was a response that native code has sent.
      dispatch(request, response) {
        if (!isResponse(response) && typeof response?.then === 'function') later(reply(request), response)
        else send(request, response)
      },
      socket: app.websocket === undefined ? undefined : (socket, kind, value, reason) => {
        const { open, message, drain, close } = app.websocket
        const handler = [open, message, drain, close][kind]
        const result = handler && apply(handler, app.websocket, kind === 3 ? [socket, value, reason] : kind === 1 ? [socket, value] : [socket])
        if (typeof result?.then === 'function') result.then(undefined, (error) => report(`${socket.request.url}: a websocket handler was rejected`, error))
      },
      allocate: typeof app.allocate !== 'function' ? undefined : (size, request) => {
        const given = app.allocate(size, request)
        const buffer = ArrayBuffer.isView(given) ? given.buffer : given
        if (!(buffer instanceof ArrayBuffer) || buffer.byteLength === 0) throw new TypeError(`allocate() returned ${describe(given)}, expected an ArrayBuffer or a Uint8Array that is not empty`)
        return apply(transfer, buffer, [])
      },
    }
  }

  const { AbortController, AbortSignal, Blob, Event, EventTarget, File, FormData, Headers, ReadableStream, Request, Response, URL, URLSearchParams } = parts
  const globals = { AbortController, AbortSignal, Blob, Event, EventTarget, File, FormData, Headers, ReadableStream, Request, Response, URL, URLSearchParams }
  globals.Onrush = Object.freeze({ file: openFile, release })
  return { bind, globals }
}
