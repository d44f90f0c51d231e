// AbortController, AbortSignal and the little of EventTarget and DOMException that they need.
({ report }) => {
  class Event {
    constructor(type, init) {
      this.type = `${type}`
      Object.assign(this, init)
    }
  }

  class EventTarget {
    #listeners = []
    addEventListener(type, listener, options) {
      if (listener) this.#listeners.push({ type: `${type}`, listener, once: options?.once === true })
    }
    removeEventListener(type, listener) {
      this.#listeners = this.#listeners.filter((entry) => entry.type !== `${type}` || entry.listener !== listener)
    }
    dispatchEvent(event) {
      const own = this[`on${event.type}`]
      const wanted = this.#listeners.filter((entry) => entry.type === event.type)
      if (typeof own === 'function') wanted.unshift({ listener: own })
      for (const { listener, once } of wanted) {
        if (once) this.removeEventListener(event.type, listener)
        try {
          if (typeof listener === 'function') listener.call(this, event)
          else listener.handleEvent(event)
        } catch (error) {
          report(`a listener of '${event.type}' threw`, error)
        }
      }
      return true
    }
  }

  const abortError = (message) => {
    const error = new Error(message)
    Object.defineProperty(error, 'name', { value: 'AbortError', writable: true, configurable: true })
    return error
  }

  let abort
  class AbortSignal extends EventTarget {
    #aborted = false
    #reason = undefined
    onabort = null
    static {
      abort = (signal, reason) => {
        if (signal.#aborted) return
        signal.#aborted = true
        signal.#reason = reason ?? abortError('the operation was aborted')
        signal.dispatchEvent(new Event('abort', { target: signal }))
      }
    }
    static abort(reason) {
      const signal = new AbortSignal()
      abort(signal, reason)
      return signal
    }
    static timeout(ms) {
      const signal = new AbortSignal()
      setTimeout(() => abort(signal, abortError(`${ms} ms are over`)), ms)
      return signal
    }
    get aborted() { return this.#aborted }
    get reason() { return this.#reason }
    throwIfAborted() { if (this.#aborted) throw this.#reason }
  }

  class AbortController {
    #signal = new AbortSignal()
    get signal() { return this.#signal }
    abort(reason) { abort(this.#signal, reason) }
  }

  return { AbortController, AbortSignal, Event, EventTarget, abortError }
}
