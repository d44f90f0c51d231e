// What the streams of k6/experimental/streams lack for apps: iteration, and streams that read from a native source.
({ ReadableStream, pull: pullNative }) => {
  const iterate = (stream, options) => {
    const reader = stream.getReader()
    let over = false
    return {
      async next() {
        if (over) return { value: undefined, done: true }
        try {
          const result = await reader.read()
          if (result.done) {
            over = true
            reader.releaseLock()
          }
          return result
        } catch (error) {
          over = true
          reader.releaseLock()
          throw error
        }
      },
      async return(value) {
        if (!over) {
          over = true
          if (!options?.preventCancel) {
            const cancelled = reader.cancel()
            reader.releaseLock()
            await cancelled
          } else reader.releaseLock()
        }
        return { value, done: true }
      },
      [Symbol.asyncIterator]() { return this },
    }
  }

  const define = (name, value) =>
    Object.defineProperty(ReadableStream.prototype, name, { value, writable: true, configurable: true })
  define('values', function (options) { return iterate(this, options) })
  define(Symbol.asyncIterator, function (options) { return iterate(this, options) })

  ReadableStream.from = (source) => {
    const iterator = source[Symbol.asyncIterator]?.() ?? source[Symbol.iterator]?.()
    if (!iterator) throw new TypeError('ReadableStream.from() got a value that cannot be iterated')
    return new ReadableStream({
      async pull(controller) {
        const { value, done } = await iterator.next()
        if (done) controller.close()
        else controller.enqueue(value)
      },
      async cancel(reason) { await iterator.return?.(reason) },
    }, { highWaterMark: 0 })
  }

  // The body of an incoming request. Nothing is received before it is asked for.
  const pieceOf = (request) => new Promise((resolve, reject) => {
    pullNative(request, (error, piece) => {
      if (error !== undefined) reject(error)
      else resolve(piece)
    })
  })
  const bodyStream = (request) => {
    const stream = new ReadableStream({
      async pull(controller) {
        const piece = await pieceOf(request)
        if (piece === undefined) controller.close()
        else controller.enqueue(piece)
      },
    }, { highWaterMark: 0 })
    Object.defineProperty(stream, Symbol.asyncIterator, { value: (options) => iterateBody(stream, request, options), writable: true, configurable: true })
    return stream
  }

  // A loop over the body asks the native source itself: a promise a piece. The reader is there to lock the stream.
  const iterateBody = (stream, request, options) => {
    const iterator = iterate(stream, options)
    let over = false
    const next = () => new Promise((resolve, reject) => {
      pullNative(request, (error, piece) => {
        if (error === undefined && piece !== undefined) return resolve({ value: piece, done: false })
        over = true
        iterator.return().then(() => error === undefined ? resolve({ value: undefined, done: true }) : reject(error), reject)
      })
    })
    return {
      next() { return over ? Promise.resolve({ value: undefined, done: true }) : next() },
      return(value) {
        over = true
        return iterator.return(value)
      },
      [Symbol.asyncIterator]() { return this },
    }
  }

  return { bodyStream, pieceOf }
}
