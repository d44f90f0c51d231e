// What readable and writable streams are made of: the queue of chunks with their sizes, how a strategy and the functions of
// a source or sink are read, promises that are settled from outside. Names of the Streams Standard where it has one.
() => {
  class ChunkQueue {
    #entries = []
    #head = 0
    totalSize = 0

    get isEmpty() { return this.#head === this.#entries.length }
    get first() { return this.#entries[this.#head].chunk }

    push(chunk, size) {
      this.#entries.push({ chunk, size })
      this.totalSize += size
    }

    // What was taken stays in the list until it is half of it: shifting each time would move all that follows.
    shift() {
      const { chunk, size } = this.#entries[this.#head]
      this.#entries[this.#head++] = undefined
      // Sums of fractions may fall below nothing.
      this.totalSize = Math.max(0, this.totalSize - size)
      if (this.#head * 2 > this.#entries.length) {
        this.#entries.splice(0, this.#head)
        this.#head = 0
      }
      return chunk
    }

    clear() {
      this.#entries = []
      this.#head = 0
      this.totalSize = 0
    }
  }

  const isObject = (value) => typeof value === 'object' && value !== null || typeof value === 'function'
  const kind = (value) => value === null ? 'null' : typeof value

  // A strategy as { highWaterMark, sizeOf }; sizeOf throws when the script's own function does or gives no usable size.
  const readStrategy = (strategy) => {
    if (strategy === undefined || strategy === null) strategy = {}
    if (!isObject(strategy)) throw new TypeError(`the strategy is of type ${kind(strategy)}, expected an object`)
    const { size, highWaterMark: given } = strategy
    const highWaterMark = given === undefined ? 1 : Number(given)
    if (!(highWaterMark >= 0)) throw new RangeError(`highWaterMark is ${String(given)}, expected a number of 0 or more`)
    if (size === undefined) return { highWaterMark, sizeOf: () => 1 }
    if (typeof size !== 'function') throw new TypeError(`size of the strategy is of type ${kind(size)}, expected a function`)
    const sizeOf = (chunk) => {
      const found = Number(size(chunk))
      if (!(found >= 0 && found < Infinity)) throw new RangeError(`size of the strategy gave ${found}, expected a finite number of 0 or more`)
      return found
    }
    return { highWaterMark, sizeOf }
  }

  // The functions of a source or sink, to be called as its methods.
  const readCallbacks = (owner, what, names) => {
    const callbacks = {}
    if (owner === undefined) return callbacks
    if (!isObject(owner)) throw new TypeError(`${what} is of type ${kind(owner)}, expected an object`)
    for (const name of names) {
      const callback = owner[name]
      if (callback === undefined) continue
      if (typeof callback !== 'function') throw new TypeError(`${name} of ${what} is of type ${kind(callback)}, expected a function`)
      callbacks[name] = (...args) => Reflect.apply(callback, owner, args)
    }
    return callbacks
  }

  // Calls what may be missing, throw, or return a promise: always a new promise, as the standard's callbacks give one.
  const settle = (callback, ...args) => new Promise((resolve) => resolve(callback?.(...args)))

  const nothing = () => undefined

  // Its rejection is no unhandled one, whether or not the script looks at it.
  const quiet = (promise) => {
    promise.then(undefined, nothing)
    return promise
  }

  class Deferred {
    isPending = true
    constructor() {
      this.promise = new Promise((resolve, reject) => {
        this.resolve = (value) => { this.isPending = false; resolve(value) }
        this.reject = (error) => { this.isPending = false; reject(error) }
      })
    }
    static resolved() {
      const deferred = new Deferred()
      deferred.resolve()
      return deferred
    }
    static rejected(error) {
      const deferred = new Deferred()
      deferred.quietReject(error)
      return deferred
    }
    quietReject(error) {
      quiet(this.promise)
      this.reject(error)
    }
  }

  const notSupported = (what) => {
    const error = new Error(`${what} is not supported`)
    Object.defineProperty(error, 'name', { value: 'NotSupportedError', writable: true, configurable: true })
    return error
  }

  class CountQueuingStrategy {
    constructor(init) {
      if (!isObject(init)) throw new TypeError(`CountQueuingStrategy got ${kind(init)}, expected an object with highWaterMark`)
      if (init.highWaterMark === undefined || init.highWaterMark === null) throw new TypeError('CountQueuingStrategy got no highWaterMark, expected a number')
      this.highWaterMark = Number(init.highWaterMark)
      this.size = () => 1
    }
  }

  return { ChunkQueue, CountQueuingStrategy, Deferred, isObject, kind, notSupported, nothing, quiet, readCallbacks, readStrategy, settle }
}
