// Blob, File and FormData. A blob is its pieces, put together when it is made.
({ decode, makeBlob, ReadableStream }) => {
  const bytesOf = (part) => {
    if (ArrayBuffer.isView(part)) return new Uint8Array(part.buffer, part.byteOffset, part.byteLength).slice()
    if (part instanceof ArrayBuffer) return new Uint8Array(part.slice())
    return new TextEncoder().encode(`${part}`)
  }

  const { Blob, bytesOfBlob: blobBytes } = makeBlob({
    readParts(parts = [], blobBytes) {
      if (typeof parts !== 'object' || typeof parts?.[Symbol.iterator] !== 'function') throw new TypeError('Blob got no list of parts')
      return [...parts].map((part) => blobBytes(part) ?? bytesOf(part))
    },
    readType(options) {
      const type = `${options?.type ?? ''}`
      // The File API: a type that no header can hold is none.
      return /[^\x20-\x7e]/.test(type) ? '' : type.toLowerCase()
    },
    decode,
    streamClass: () => ReadableStream,
  })

  class File extends Blob {
    #name
    #lastModified
    constructor(parts, name, options) {
      if (name === undefined) throw new TypeError('File got no name')
      super(parts, options)
      this.#name = `${name}`
      this.#lastModified = Number(options?.lastModified ?? Date.now())
    }
    get name() { return this.#name }
    get lastModified() { return this.#lastModified }
    get [Symbol.toStringTag]() { return 'File' }
  }

  const entryOf = (value, fileName) => {
    if (!(value instanceof Blob)) return `${value}`
    if (value instanceof File && fileName === undefined) return value
    return new File([value], fileName ?? 'blob', { type: value.type })
  }

  class FormData {
    #entries = []
    append(name, value, fileName) { this.#entries.push([`${name}`, entryOf(value, fileName)]) }
    delete(name) { this.#entries = this.#entries.filter(([known]) => known !== `${name}`) }
    get(name) { return this.#entries.find(([known]) => known === `${name}`)?.[1] ?? null }
    getAll(name) { return this.#entries.filter(([known]) => known === `${name}`).map(([, value]) => value) }
    has(name) { return this.#entries.some(([known]) => known === `${name}`) }
    set(name, value, fileName) {
      const at = this.#entries.findIndex(([known]) => known === `${name}`)
      const entry = [`${name}`, entryOf(value, fileName)]
      if (at < 0) this.#entries.push(entry)
      else this.#entries = this.#entries.filter(([known], index) => index <= at || known !== `${name}`).with(at, entry)
    }
    forEach(callback, self) { for (const [name, value] of this) callback.call(self, value, name, this) }
    *entries() { for (const [name, value] of this.#entries) yield [name, value] }
    *keys() { for (const [name] of this.#entries) yield name }
    *values() { for (const [, value] of this.#entries) yield value }
    [Symbol.iterator]() { return this.entries() }
    get [Symbol.toStringTag]() { return 'FormData' }
  }

  return { Blob, File, FormData, blobBytes }
}
