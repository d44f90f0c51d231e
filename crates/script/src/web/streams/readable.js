// ReadableStream, its controller and its reader, after the Streams Standard (https://streams.spec.whatwg.org/), section 4.
// One object holds the state of a stream; what scripts see are three faces of it, which check whom they are called on.
({ ChunkQueue, Deferred, isObject, kind, notSupported, nothing, readCallbacks, readStrategy, settle }) => {
  class Readable {
    state = 'readable' // or 'closed' or 'errored'
    error = undefined
    reader = undefined
    queue = new ChunkQueue()
    closeRequested = false
    started = false
    pulling = false
    pullAgain = false

    constructor(source, strategy) {
      this.callbacks = readCallbacks(source, 'the source', ['start', 'pull', 'cancel'])
      checkType(source?.type)
      const { highWaterMark, sizeOf } = readStrategy(strategy)
      this.highWaterMark = highWaterMark
      this.sizeOf = sizeOf
    }

    start(controller) {
      this.controller = controller
      const result = this.callbacks.start?.(controller)
      settle(() => result).then(() => {
        this.started = true
        this.pullIfNeeded()
      }, (error) => this.fail(error))
    }

    get desiredSize() {
      if (this.state === 'errored') return null
      return this.state === 'closed' ? 0 : this.highWaterMark - this.queue.totalSize
    }

    get takesChunks() { return this.state === 'readable' && !this.closeRequested }
    get hasWaitingReads() { return this.reader !== undefined && this.reader.requests.length > 0 }

    pullIfNeeded() {
      if (!this.takesChunks || !this.started || !(this.hasWaitingReads || this.desiredSize > 0)) return
      if (this.pulling) {
        this.pullAgain = true
        return
      }
      this.pulling = true
      settle(this.callbacks.pull, this.controller).then(() => {
        this.pulling = false
        if (!this.pullAgain) return
        this.pullAgain = false
        this.pullIfNeeded()
      }, (error) => this.fail(error))
    }

    enqueue(chunk) {
      if (this.hasWaitingReads) {
        this.reader.requests.shift().resolve({ value: chunk, done: false })
      } else {
        try {
          this.queue.push(chunk, this.sizeOf(chunk))
        } catch (error) {
          this.fail(error)
          throw error
        }
      }
      this.pullIfNeeded()
    }

    requestClose() {
      this.closeRequested = true
      if (this.queue.isEmpty) this.finish()
    }

    // Forgets the source, so that it and what it holds can be collected.
    letGo() {
      this.queue.clear()
      this.callbacks = {}
      this.sizeOf = () => 1
    }

    finish() {
      this.letGo()
      this.state = 'closed'
      if (!this.reader) return
      this.reader.closed.resolve()
      for (const request of this.reader.requests.splice(0)) request.resolve({ value: undefined, done: true })
    }

    fail(error) {
      if (this.state !== 'readable') return
      this.letGo()
      this.state = 'errored'
      this.error = error
      if (!this.reader) return
      this.reader.closed.quietReject(error)
      for (const request of this.reader.requests.splice(0)) request.reject(error)
    }

    read() {
      if (this.state === 'closed') return Promise.resolve({ value: undefined, done: true })
      if (this.state === 'errored') return Promise.reject(this.error)
      if (this.queue.isEmpty) {
        const request = new Deferred()
        this.reader.requests.push(request)
        this.pullIfNeeded()
        return request.promise
      }
      const chunk = this.queue.shift()
      if (this.closeRequested && this.queue.isEmpty) this.finish()
      else this.pullIfNeeded()
      return Promise.resolve({ value: chunk, done: false })
    }

    cancel(reason) {
      if (this.state === 'closed') return Promise.resolve()
      if (this.state === 'errored') return Promise.reject(this.error)
      const { cancel } = this.callbacks
      this.finish()
      return settle(cancel, reason).then(nothing)
    }
  }

  const checkType = (type) => {
    if (type === undefined) return
    if (String(type) === 'bytes') throw notSupported("a source of type 'bytes'")
    throw new TypeError(`type of the source is '${String(type)}', expected undefined`)
  }

  let readableOf
  let makingController = false

  class ReadableStream {
    #readable
    static { readableOf = (value) => isObject(value) && #readable in value ? value.#readable : undefined }

    constructor(source, strategy) {
      const readable = new Readable(source, strategy)
      this.#readable = readable
      makingController = true
      readable.start(new ReadableStreamDefaultController(readable))
    }

    get locked() { return this.#readable.reader !== undefined }

    cancel(reason) {
      if (this.locked) return Promise.reject(new TypeError('cannot cancel: the stream is locked to a reader; cancel that, or release its lock'))
      return this.#readable.cancel(reason)
    }

    getReader(options) {
      if (options !== undefined && options !== null) {
        if (!isObject(options)) throw new TypeError(`the options of getReader() are of type ${kind(options)}, expected an object`)
        const { mode } = options
        if (mode !== undefined && String(mode) === 'byob') throw notSupported("a reader of mode 'byob'")
        if (mode !== undefined) throw new TypeError(`mode of getReader() is '${String(mode)}', expected undefined`)
      }
      return new ReadableStreamDefaultReader(this)
    }

    tee() { throw notSupported('tee()') }
  }

  class ReadableStreamDefaultController {
    #readable

    constructor(readable) {
      if (!makingController) throw new TypeError('a ReadableStreamDefaultController cannot be constructed')
      makingController = false
      this.#readable = readable
    }

    get desiredSize() { return this.#readable.desiredSize }

    close() {
      this.#check('close')
      this.#readable.requestClose()
    }

    enqueue(chunk) {
      this.#check('enqueue')
      this.#readable.enqueue(chunk)
    }

    error(error) { this.#readable.fail(error) }

    #check(action) {
      const { takesChunks, state } = this.#readable
      if (!takesChunks) throw new TypeError(`cannot ${action}: the stream is ${state === 'readable' ? 'closing' : state}`)
    }
  }

  const released = (action) => new TypeError(`cannot ${action}: the reader was released`)

  class ReadableStreamDefaultReader {
    #readable
    // What the stream knows of its reader.
    #end = { requests: [], closed: undefined }

    constructor(stream) {
      const readable = readableOf(stream)
      if (!readable) throw new TypeError(`ReadableStreamDefaultReader got ${kind(stream)}, expected a ReadableStream`)
      if (readable.reader) throw new TypeError('cannot make a reader: the stream is locked to another one')
      this.#readable = readable
      if (readable.state === 'errored') this.#end.closed = Deferred.rejected(readable.error)
      else this.#end.closed = readable.state === 'closed' ? Deferred.resolved() : new Deferred()
      readable.reader = this.#end
    }

    get closed() { return this.#end.closed.promise }

    read() { return this.#readable ? this.#readable.read() : Promise.reject(released('read')) }

    cancel(reason) { return this.#readable ? this.#readable.cancel(reason) : Promise.reject(released('cancel')) }

    releaseLock() {
      const readable = this.#readable
      if (!readable) return
      const { closed, requests } = this.#end
      if (readable.state === 'readable') closed.quietReject(released('wait for the end'))
      else this.#end.closed = Deferred.rejected(released('wait for the end'))
      readable.reader = undefined
      this.#readable = undefined
      for (const request of requests.splice(0)) request.reject(released('read'))
    }
  }

  return { ReadableStream, ReadableStreamDefaultReader }
}
