// Request and Response. An incoming request is a native object whose prototype is that of the class here; its method, url,
// headers and body are looked up when they are asked for. A response is what the sender needs and no more.
(parts) => {
  const { AbortController, Headers, URL, URLSearchParams, blobBytes, flatHeaders, headersOf, install, isStream, method, url, watch } = parts
  const MADE = Symbol('body of a request made by the app')
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
      if (type && !this.headers.has('content-type')) this.headers.set('content-type', type === 1 ? 'text/plain;charset=UTF-8' : type)
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

  // The type a body brings along: 1 stands for plain text.
  const typeOf = (body) => {
    if (typeof body === 'string') return 1
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

  let answerParts, isResponse
  class Response {
    #status = 200
    #headers
    #type
    #body
    #text
    static {
      isResponse = (value) => typeof value === 'object' && value !== null && #status in value
      // (response, f): f(status, [name, value, …] or undefined, type or undefined, body)
      answerParts = (response, target, send) => {
        const headers = response.#headers
        return send(target, response.#status, headers === undefined ? undefined : flatHeaders(headers), response.#type, response.#body)
      }
    }

    constructor(body, init) {
      if (typeof body === 'string') {
        this.#body = body
        this.#type = 1
      } else if (body !== undefined && body !== null) {
        this.#type = typeOf(body)
        this.#body = plainBody(body)
      }
      if (init === undefined || init === null) return
      const { status, statusText, headers } = init
      if (status !== undefined) {
        const number = Number(status)
        if (!(Number.isInteger(number) && number >= 200 && number <= 599)) throw new RangeError(`the status is ${String(status)}, expected a whole number from 200 to 599`)
        if (this.#body !== undefined && (number === 204 || number === 205 || number === 304)) throw new TypeError(`a response with status ${number} has no body`)
        this.#status = number
      }
      if (statusText !== undefined) this.#text = `${statusText}`
      if (headers !== undefined) this.#headers = new Headers(headers)
    }

    static json(data, init) {
      const text = JSON.stringify(data)
      if (text === undefined) throw new TypeError('the value has no JSON form')
      const response = new Response(text, init)
      response.#type = 'application/json'
      return response
    }
    static redirect(url, status = 302) {
      if (![301, 302, 303, 307, 308].includes(status)) throw new RangeError(`the status is ${status}, expected 301, 302, 303, 307 or 308`)
      return new Response(null, { status, headers: { location: `${url}` } })
    }
    static error() { return new Response(null, { status: 500 }) }

    get status() { return this.#status }
    get statusText() { return this.#text ?? '' }
    get ok() { return this.#status < 300 }
    get type() { return 'default' }
    get url() { return '' }
    get redirected() { return false }
    get headers() {
      const headers = this.#headers ??= new Headers()
      if (this.#type !== undefined) {
        if (!headers.has('content-type')) headers.set('content-type', this.#type === 1 ? 'text/plain;charset=UTF-8' : this.#type)
        this.#type = undefined
      }
      return headers
    }
    clone() {
      if (isStream(this.#body)) throw new TypeError('a response with a stream cannot be cloned')
      const copy = new Response(null, { status: this.#status, headers: this.headers })
      copy.#body = this.#body
      return copy
    }
    get [Symbol.toStringTag]() { return 'Response' }
    static {
      install(Response.prototype, (response) => ({ value: response.#body }))
    }
  }

  return { Request, Response, answerParts, isResponse }
}
