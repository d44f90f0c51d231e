// Request and Response. Both are native objects; an incoming request's method, url, headers and body are looked up when they are
// asked for, and most responses are made and sent without any of what is here.
(parts) => {
  const { AbortController, Headers, Response, URL, URLSearchParams, blobBytes, flatHeaders, headersOf, install, isPieces, method, responseBytes, responseLines, slowPaths, status, statusText, url, watch } = parts
  const MADE = Symbol('body of a request made by the app')
  const describe = (value) => {
    if (value === null || value === undefined) return `${value}`
    const name = typeof value === 'object' ? value.constructor?.name : undefined
    return name && name !== 'Object' ? `an object of class ${name}` : typeof value === 'object' ? 'a plain object' : `a ${typeof value}`
  }
  const own = (object, name, value) => Object.defineProperty(object, name, { value, writable: true, configurable: true })

  class Request {
    constructor(input, init = {}) {
      const from = input instanceof Request ? input : undefined
      own(this, 'url', from ? from.url : new URL(`${input}`).href)
      own(this, 'method', `${init.method ?? from?.method ?? 'GET'}`.toUpperCase())
      own(this, 'headers', new Headers(init.headers ?? from?.headers))
      if (init.signal ?? from?.signal) own(this, 'signal', init.signal ?? from.signal)
      own(this, MADE, { value: init.body ?? from?.body ?? undefined })
      if (this[MADE].value !== undefined && (this.method === 'GET' || this.method === 'HEAD')) throw new TypeError(`a ${this.method} request has no body`)
      const type = init.body === undefined ? undefined : typeOf(init.body)
      if (type && !this.headers.has('content-type')) this.headers.set('content-type', type)
    }
    get headers() {
      const headers = headersOf(this)
      own(this, 'headers', headers)
      return headers
    }
    get signal() {
      const controller = new AbortController()
      own(this, 'signal', controller.signal)
      watch(this, () => controller.abort(new TypeError('the client has gone')))
      return controller.signal
    }
    clone() { throw new TypeError('a request cannot be cloned: read its body once, and keep what was read') }
    get [Symbol.toStringTag]() { return 'Request' }
  }
  Object.defineProperty(Request.prototype, 'method', { get: method, configurable: true })
  Object.defineProperty(Request.prototype, 'url', { get: url, configurable: true })
  install(Request.prototype, (request) => request[MADE] ?? { request })

  // The type a body brings along.
  const typeOf = (body) => {
    if (typeof body === 'string') return 'text/plain;charset=UTF-8'
    if (body instanceof URLSearchParams) return 'application/x-www-form-urlencoded;charset=UTF-8'
    if (blobBytes(body)) return body.type || undefined
    return undefined
  }

  // A body as the sender takes it: texts, buffers, lists of them, files, or something that is iterated.
  const plainBody = (body) => {
    if (typeof body !== 'object') return `${body}`
    if (body instanceof URLSearchParams) return body.toString()
    const blob = blobBytes(body)
    if (blob) return blob
    if (body instanceof parts.FormData) throw new TypeError('a FormData cannot be the body of a response')
    return body
  }

  // What native code leaves to us: bodies of classes, headers of any kind, bodies that are iterated.
  const STREAM = Symbol('body of a response')
  slowPaths(
    (body) => [plainBody(body), typeOf(body)],
    (headers) => flatHeaders(headers instanceof Headers ? headers : new Headers(headers)),
    (response, body) => {
      if (!isPieces(body)) throw new TypeError(`the body of the response is ${describe(body)}, expected a string, bytes, a list of these, something to iterate, or Onrush.file(path)`)
      Object.defineProperty(response, STREAM, { value: body })
    },
    Response,
  )

  const { prototype } = Response
  Object.defineProperty(prototype, Symbol.toStringTag, { value: 'Response', configurable: true })
  const getters = {
    status,
    statusText,
    ok() { return this.status < 300 },
    type() { return 'default' },
    url() { return '' },
    redirected() { return false },
    headers() {
      const headers = new Headers()
      const lines = responseLines(this, true)
      for (let at = 0; at < lines.length; at += 2) headers.append(lines[at], lines[at + 1])
      own(this, 'headers', headers)
      return headers
    },
  }
  for (const [name, get] of Object.entries(getters)) Object.defineProperty(prototype, name, { get, configurable: true })
  own(prototype, 'clone', function clone() {
    if (this[STREAM]) throw new TypeError('a response with a stream cannot be cloned')
    const { status, statusText, headers } = this
    return new Response(status === 204 || status === 205 || status === 304 ? null : responseBytes(this), { status, statusText, headers })
  })
  install(prototype, (response) => {
    const bytes = responseBytes(response)
    if (bytes === null) throw new TypeError('a file body is read by the sender alone')
    return { value: bytes === undefined ? response[STREAM] : bytes }
  })

  own(Response, 'json', function json(data, init) {
    const text = JSON.stringify(data)
    if (text === undefined) throw new TypeError('the value has no JSON form')
    return new Response(text, init, 1)
  })
  own(Response, 'redirect', function redirect(url, status = 302) {
    if (![301, 302, 303, 307, 308].includes(status)) throw new RangeError(`the status is ${status}, expected 301, 302, 303, 307 or 308`)
    return new Response(null, { status, headers: { location: `${url}` } })
  })
  own(Response, 'error', function error() { return new Response(null, { status: 500 }) })

  return { Request, describe, streamBody: (response) => response[STREAM] }
}
