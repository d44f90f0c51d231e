// URL and URLSearchParams over the native parser: a URL is its parts and its whole, and its query is parsed when it is looked at.
({ parseUrl, changeUrl, parseQuery, writeQuery }) => {
  class URLSearchParams {
    #pairs
    #changed

    constructor(init = '') {
      if (init instanceof URLSearchParams) this.#pairs = init.#pairs.slice()
      else if (init !== null && (typeof init === 'object' || typeof init === 'function')) {
        this.#pairs = []
        const entries = typeof init[Symbol.iterator] === 'function' ? init : Object.entries(init)
        for (const pair of entries) {
          if (pair?.length !== 2) throw new TypeError('URLSearchParams got a list with an entry that is no pair of name and value')
          this.#pairs.push(`${pair[0]}`, `${pair[1]}`)
        }
      } else this.#pairs = parseQuery(`${init}`)
    }

    // Of the query of a URL, whose first character may be a question mark, too.
    static of(query, changed) {
      const params = new URLSearchParams(`?${query}`)
      params.#changed = changed
      return params
    }
    static reset(params, query) { params.#pairs = parseQuery(`?${query}`) }

    #set(pairs) {
      this.#pairs = pairs
      this.#changed?.(this.toString())
    }

    get size() { return this.#pairs.length / 2 }
    append(name, value) { this.#set([...this.#pairs, `${name}`, `${value}`]) }
    delete(name, value) {
      const kept = []
      const pairs = this.#pairs
      for (let at = 0; at < pairs.length; at += 2) {
        if (pairs[at] !== `${name}` || (value !== undefined && pairs[at + 1] !== `${value}`)) kept.push(pairs[at], pairs[at + 1])
      }
      this.#set(kept)
    }
    get(name) { return this.getAll(name)[0] ?? null }
    getAll(name) { return this.#pairs.filter((_, at, pairs) => at % 2 === 1 && pairs[at - 1] === `${name}`) }
    has(name, value) {
      const all = this.getAll(name)
      return value === undefined ? all.length > 0 : all.includes(`${value}`)
    }
    set(name, value) {
      const at = this.#pairs.findIndex((entry, index) => index % 2 === 0 && entry === `${name}`)
      if (at < 0) return this.append(name, value)
      const kept = this.#pairs.slice(0, at)
      kept.push(`${name}`, `${value}`)
      for (let rest = at + 2; rest < this.#pairs.length; rest += 2) {
        if (this.#pairs[rest] !== `${name}`) kept.push(this.#pairs[rest], this.#pairs[rest + 1])
      }
      this.#set(kept)
    }
    sort() { this.#set([...this].sort(([a], [b]) => a < b ? -1 : a > b ? 1 : 0).flat()) }
    forEach(callback, self) { for (const [name, value] of this) callback.call(self, value, name, this) }
    *entries() { for (let at = 0; at < this.#pairs.length; at += 2) yield [this.#pairs[at], this.#pairs[at + 1]] }
    *keys() { for (const [name] of this.entries()) yield name }
    *values() { for (const [, value] of this.entries()) yield value }
    [Symbol.iterator]() { return this.entries() }
    get [Symbol.toStringTag]() { return 'URLSearchParams' }
    toString() { return writeQuery(this.#pairs) }
  }
  const { of: paramsOf, reset } = URLSearchParams
  delete URLSearchParams.of
  delete URLSearchParams.reset

  const hasOrigin = (scheme) => ['http', 'https', 'ws', 'wss', 'ftp'].includes(scheme)

  class URL {
    #parts // scheme, user name, password, host name, port, path, query, fragment, and the whole
    #params

    constructor(url, base) { this.#parts = parseUrl(url, base) }

    static canParse(url, base) {
      try {
        parseUrl(url, base)
        return true
      } catch { return false }
    }
    static parse(url, base) { return URL.canParse(url, base) ? new URL(url, base) : null }

    get protocol() { return `${this.#parts[0]}:` }
    get username() { return this.#parts[1] }
    get password() { return this.#parts[2] }
    get hostname() { return this.#parts[3] }
    get port() { return this.#parts[4] }
    get host() { return this.#parts[4] ? `${this.#parts[3]}:${this.#parts[4]}` : this.#parts[3] }
    get origin() {
      if (this.#parts[0] === 'blob') {
        const inner = URL.parse(this.pathname)
        return inner && ['http', 'https'].includes(inner.#parts[0]) ? inner.origin : 'null'
      }
      return hasOrigin(this.#parts[0]) ? `${this.#parts[0]}://${this.host}` : 'null'
    }
    get pathname() { return this.#parts[5] }
    get search() { return this.#parts[6] && `?${this.#parts[6]}` }
    get hash() { return this.#parts[7] && `#${this.#parts[7]}` }
    get searchParams() {
      return this.#params ??= paramsOf(this.#parts[6], (text) => { this.#parts = changeUrl(this.href, 'search', text) })
    }
    get href() { return this.#parts[8] }

    // As the standard has it, what cannot be is passed over.
    #change(name, value) { this.#become(changeUrl(this.href, name, `${value}`)) }
    // The object of the query stays the same.
    #become(parts) {
      this.#parts = parts
      if (this.#params) reset(this.#params, parts[6])
    }
    set protocol(value) { this.#change('protocol', value) }
    set username(value) { this.#change('username', value) }
    set password(value) { this.#change('password', value) }
    set hostname(value) { this.#change('hostname', value) }
    set port(value) { this.#change('port', value) }
    set host(value) { this.#change('host', value) }
    set pathname(value) { this.#change('pathname', value) }
    set search(value) { this.#change('search', value) }
    set hash(value) { this.#change('hash', value) }
    set href(value) { this.#become(parseUrl(`${value}`)) }
    toString() { return this.href }
    toJSON() { return this.href }
    get [Symbol.toStringTag]() { return 'URL' }
  }

  return { URL, URLSearchParams }
}
