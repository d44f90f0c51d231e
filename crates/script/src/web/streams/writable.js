// WritableStream, its controller and its writer, after the Streams Standard (https://streams.spec.whatwg.org/), section 5.
// One object holds the state of a stream; what scripts see are three faces of it, which check whom they are called on.
({ ChunkQueue, Deferred, isObject, kind, readCallbacks, readStrategy, settle }) => {
  // In the queue: the end, behind the last chunk.
  const END = Symbol('end')

  class Writable {
    state = 'writable' // then 'closed', or 'erroring' and 'errored'
    error = undefined
    writer = undefined
    queue = new ChunkQueue()
    started = false
    backpressure = false
    writeRequests = [] // a promise for each chunk in the queue that is not being written
    writing = undefined
    closeRequest = undefined
    closing = undefined
    abortRequest = undefined

    constructor(sink, strategy) {
      this.callbacks = readCallbacks(sink, 'the sink', ['start', 'write', 'close', 'abort'])
      if (sink?.type !== undefined) throw new RangeError(`type of the sink is '${String(sink.type)}', expected undefined`)
      const { highWaterMark, sizeOf } = readStrategy(strategy)
      this.highWaterMark = highWaterMark
      this.sizeOf = sizeOf
      this.updateBackpressure()
    }

    start(controller) {
      this.controller = controller
      const result = this.callbacks.start?.(controller)
      settle(() => result).then(() => {
        this.started = true
        this.advance()
      }, (error) => {
        this.started = true
        this.rejected(error)
      })
    }

    get desiredSize() {
      if (this.state === 'errored' || this.state === 'erroring') return null
      return this.state === 'closed' ? 0 : this.highWaterMark - this.queue.totalSize
    }

    get isEnding() { return this.closeRequest !== undefined || this.closing !== undefined }

    updateBackpressure() {
      const backpressure = this.highWaterMark - this.queue.totalSize <= 0
      if (this.writer && backpressure !== this.backpressure) {
        if (backpressure) this.writer.ready = new Deferred()
        else this.writer.ready.resolve()
      }
      this.backpressure = backpressure
    }

    write(chunk, writer) {
      const size = this.sizeForWriting(chunk)
      // The strategy's own function may have released the writer.
      if (this.writer !== writer) return Promise.reject(released('write'))
      if (this.state === 'errored') return Promise.reject(this.error)
      if (this.isEnding || this.state === 'closed') return Promise.reject(new TypeError('cannot write: the stream is closing or closed'))
      if (this.state === 'erroring') return Promise.reject(this.error)
      const request = new Deferred()
      this.writeRequests.push(request)
      this.queue.push(chunk, size)
      this.updateBackpressure()
      this.advance()
      return request.promise
    }

    sizeForWriting(chunk) {
      try {
        return this.sizeOf(chunk)
      } catch (error) {
        this.fail(error)
        return 1
      }
    }

    close() {
      if (this.state === 'closed' || this.state === 'errored' || this.isEnding) {
        return Promise.reject(new TypeError(`cannot close: the stream is ${this.isEnding ? 'closing' : this.state}`))
      }
      const request = this.closeRequest = new Deferred()
      if (this.backpressure && this.state === 'writable') this.writer?.ready.resolve()
      this.queue.push(END, 0)
      this.advance()
      return request.promise
    }

    abort(reason) {
      if (this.state === 'closed' || this.state === 'errored') return Promise.resolve()
      if (this.abortRequest) return this.abortRequest.promise
      const wasErroring = this.state === 'erroring'
      const request = this.abortRequest = Object.assign(new Deferred(), { wasErroring, reason: wasErroring ? undefined : reason })
      if (!wasErroring) this.beginErroring(reason)
      return request.promise
    }

    // Hands the next chunk, or the end, to the sink.
    advance() {
      if (!this.started || this.writing) return
      if (this.state === 'erroring') {
        this.finishErroring()
      } else if (!this.queue.isEmpty) {
        if (this.queue.first === END) this.writeEnd()
        else this.writeChunk()
      }
    }

    writeChunk() {
      this.writing = this.writeRequests.shift()
      settle(this.callbacks.write, this.queue.first, this.controller).then(() => {
        this.writing.resolve()
        this.writing = undefined
        this.queue.shift()
        if (!this.isEnding && this.state === 'writable') this.updateBackpressure()
        this.advance()
      }, (error) => {
        if (this.state === 'writable') this.callbacks = {}
        this.writing.reject(error)
        this.writing = undefined
        this.rejected(error)
      })
    }

    writeEnd() {
      this.closing = this.closeRequest
      this.closeRequest = undefined
      this.queue.shift()
      const { close } = this.callbacks
      // The sink is done with: an abort from here on waits for its close().
      this.callbacks = {}
      settle(close).then(() => {
        this.closing.resolve()
        this.closing = undefined
        this.abortRequest?.resolve()
        this.abortRequest = undefined
        this.error = undefined
        this.state = 'closed'
        this.writer?.closed.resolve()
      }, (error) => {
        this.closing.reject(error)
        this.closing = undefined
        this.abortRequest?.reject(error)
        this.abortRequest = undefined
        this.rejected(error)
      })
    }

    // The sink, or the script by its controller, gives up.
    fail(error) {
      if (this.state === 'writable') this.beginErroring(error)
    }

    rejected(error) {
      if (this.state === 'writable') this.beginErroring(error)
      else this.finishErroring()
    }

    beginErroring(error) {
      this.state = 'erroring'
      this.error = error
      if (this.writer) rejectSoon(this.writer, 'ready', error)
      if (!this.writing && !this.closing && this.started) this.finishErroring()
    }

    finishErroring() {
      this.state = 'errored'
      this.queue.clear()
      for (const request of this.writeRequests.splice(0)) request.reject(this.error)
      const request = this.abortRequest
      this.abortRequest = undefined
      const { abort } = this.callbacks
      this.callbacks = {}
      if (!request) return this.rejectEnd()
      if (request.wasErroring) {
        request.reject(this.error)
        return this.rejectEnd()
      }
      settle(abort, request.reason).then(() => {
        request.resolve()
        this.rejectEnd()
      }, (error) => {
        request.reject(error)
        this.rejectEnd()
      })
    }

    rejectEnd() {
      this.closeRequest?.reject(this.error)
      this.closeRequest = undefined
      this.writer?.closed.quietReject(this.error)
    }
  }

  // Rejects a promise of the writer; one that is settled already gives way to a rejected one.
  const rejectSoon = (writer, name, error) => {
    if (writer[name].isPending) writer[name].quietReject(error)
    else writer[name] = Deferred.rejected(error)
  }

  const locked = (action) => new TypeError(`cannot ${action}: the stream is locked to a writer`)
  const released = (action) => new TypeError(`cannot ${action}: the writer was released`)

  let writableOf
  let makingController = false

  class WritableStream {
    #writable
    static { writableOf = (value) => isObject(value) && #writable in value ? value.#writable : undefined }

    constructor(sink, strategy) {
      const writable = new Writable(sink, strategy)
      this.#writable = writable
      makingController = true
      writable.start(new WritableStreamDefaultController(writable))
    }

    get locked() { return this.#writable.writer !== undefined }

    abort(reason) { return this.locked ? Promise.reject(locked('abort')) : this.#writable.abort(reason) }

    close() { return this.locked ? Promise.reject(locked('close')) : this.#writable.close() }

    getWriter() { return new WritableStreamDefaultWriter(this) }
  }

  class WritableStreamDefaultController {
    #writable

    constructor(writable) {
      if (!makingController) throw new TypeError('a WritableStreamDefaultController cannot be constructed')
      makingController = false
      this.#writable = writable
    }

    error(error) { this.#writable.fail(error) }
  }

  class WritableStreamDefaultWriter {
    #writable
    // What the stream knows of its writer.
    #end = { ready: undefined, closed: undefined }

    constructor(stream) {
      const writable = writableOf(stream)
      if (!writable) throw new TypeError(`WritableStreamDefaultWriter got ${kind(stream)}, expected a WritableStream`)
      if (writable.writer) throw new TypeError('cannot make a writer: the stream is locked to another one')
      this.#writable = writable
      const { state, error } = writable
      const waits = state === 'writable' && !writable.isEnding && writable.backpressure
      if (state === 'erroring' || state === 'errored') this.#end.ready = Deferred.rejected(error)
      else this.#end.ready = waits ? new Deferred() : Deferred.resolved()
      if (state === 'errored') this.#end.closed = Deferred.rejected(error)
      else this.#end.closed = state === 'closed' ? Deferred.resolved() : new Deferred()
      writable.writer = this.#end
    }

    get closed() { return this.#end.closed.promise }
    get ready() { return this.#end.ready.promise }

    get desiredSize() {
      if (!this.#writable) throw released('tell desiredSize')
      return this.#writable.desiredSize
    }

    abort(reason) { return this.#writable ? this.#writable.abort(reason) : Promise.reject(released('abort')) }

    close() { return this.#writable ? this.#writable.close() : Promise.reject(released('close')) }

    write(chunk) { return this.#writable ? this.#writable.write(chunk, this.#end) : Promise.reject(released('write')) }

    releaseLock() {
      const writable = this.#writable
      if (!writable) return
      rejectSoon(this.#end, 'ready', released('write'))
      rejectSoon(this.#end, 'closed', released('wait for the end'))
      writable.writer = undefined
      this.#writable = undefined
    }
  }

  return { WritableStream, WritableStreamDefaultWriter }
}
