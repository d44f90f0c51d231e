// Headers, after the Fetch Standard: names in lower case, values of one name joined by a comma, Set-Cookie apart.
// Those of an incoming request stay where they were received until more than one of them is asked for at a time.
({ checkHeader, header: requestHeader, headers: requestHeaders }) => {
  class Headers {
    #pairs
    #request

    constructor(init) {
      this.#pairs = []
      if (init === undefined || init === null) return
      if (typeof init !== 'object') throw new TypeError(`Headers got ${typeof init}, expected an object, pairs or Headers`)
      if (init instanceof Headers) this.#pairs = init.#all().slice()
      else if (typeof init[Symbol.iterator] === 'function') {
        for (const pair of init) {
          if (pair?.length !== 2) throw new TypeError('Headers got a list with an entry that is no pair of name and value')
          this.append(pair[0], pair[1])
        }
      } else for (const name of Object.keys(init)) this.append(name, init[name])
    }

    static of(request) {
      const headers = new Headers()
      headers.#request = request
      return headers
    }

    // [name, value, …] for the sender; undefined when there are none.
    static flat(headers) { return headers.#all() }

    #all() {
      if (this.#request) {
        this.#pairs = requestHeaders(this.#request)
        this.#request = undefined
      }
      return this.#pairs
    }

    append(name, value) { this.#all().push(...checkHeader(name, value)) }

    delete(name) {
      const wanted = `${name}`.toLowerCase()
      const pairs = this.#all()
      const kept = []
      for (let at = 0; at < pairs.length; at += 2) if (pairs[at] !== wanted) kept.push(pairs[at], pairs[at + 1])
      this.#pairs = kept
    }

    get(name) {
      const wanted = `${name}`.toLowerCase()
      if (this.#request) return requestHeader(this.#request, wanted)
      const pairs = this.#pairs
      let found = null
      for (let at = 0; at < pairs.length; at += 2) {
        if (pairs[at] === wanted) found = found === null ? pairs[at + 1] : `${found}, ${pairs[at + 1]}`
      }
      return found
    }

    getSetCookie() {
      return this.#all().filter((_, at, pairs) => at % 2 === 1 && pairs[at - 1] === 'set-cookie')
    }

    has(name) { return this.get(name) !== null }

    set(name, value) {
      const [wanted, checked] = checkHeader(name, value)
      const pairs = this.#all()
      const at = pairs.findIndex((entry, index) => index % 2 === 0 && entry === wanted)
      if (at < 0) {
        pairs.push(wanted, checked)
        return
      }
      const kept = pairs.slice(0, at)
      kept.push(wanted, checked)
      for (let rest = at + 2; rest < pairs.length; rest += 2) {
        if (pairs[rest] !== wanted) kept.push(pairs[rest], pairs[rest + 1])
      }
      this.#pairs = kept
    }

    forEach(callback, self) { for (const [name, value] of this) callback.call(self, value, name, this) }

    *entries() {
      const pairs = this.#all()
      const names = [...new Set(pairs.filter((_, at) => at % 2 === 0))].sort()
      for (const name of names) {
        if (name === 'set-cookie') for (const value of this.getSetCookie()) yield [name, value]
        else yield [name, this.get(name)]
      }
    }
    *keys() { for (const [name] of this.entries()) yield name }
    *values() { for (const [, value] of this.entries()) yield value }
    [Symbol.iterator]() { return this.entries() }
    get [Symbol.toStringTag]() { return 'Headers' }
    toJSON() { return Object.fromEntries(this) }
  }

  const { of: headersOf, flat: flatHeaders } = Headers
  delete Headers.of
  delete Headers.flat
  return { Headers, headersOf, flatHeaders }
}
