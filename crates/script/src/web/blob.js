// Blob of the File API (https://www.w3.org/TR/FileAPI/), section 3. Called with what differs between those who have one: how
// the constructor's arguments are read, where a stream comes from, and whether its fields are properties of its own. Gives the class and a function that tells a blob's
// bytes, which is undefined for anything else.
({ readParts, readType, decode, streamClass, isShown }) => {
  const join = (pieces) => {
    if (pieces.length === 1) return pieces[0]
    const all = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, 0))
    let at = 0
    for (const piece of pieces) {
      all.set(piece, at)
      at += piece.length
    }
    return all
  }

  let bytesOfBlob
  class Blob {
    #bytes
    #type
    static { bytesOfBlob = (value) => typeof value === 'object' && value !== null && #bytes in value ? value.#bytes : undefined }
    constructor(parts, options) {
      this.#bytes = join(readParts(parts, bytesOfBlob))
      this.#type = readType(options)
      if (isShown) show(this)
    }
    get size() { return this.#bytes.length }
    get type() { return this.#type }
    async arrayBuffer() { return this.#bytes.slice().buffer }
    async bytes() { return this.#bytes.slice() }
    async text() { return decode(this.#bytes) }
    slice(start, end, type) { return new Blob([this.#bytes.subarray(start, end)], { type: type ?? '' }) }
    stream() {
      const bytes = this.#bytes.slice()
      return new (streamClass())({
        start(controller) {
          if (bytes.length > 0) controller.enqueue(bytes)
          controller.close()
        },
      })
    }
    get [Symbol.toStringTag]() { return 'Blob' }
  }

  let getters
  function show(blob) {
    getters ??= Object.getOwnPropertyDescriptors(Blob.prototype)
    for (const name of ['size', 'type']) Object.defineProperty(blob, name, { ...getters[name], enumerable: true, configurable: false })
    for (const name of ['arrayBuffer', 'bytes', 'slice', 'text', 'stream']) blob[name] = getters[name].value.bind(blob)
  }

  return { Blob, bytesOfBlob }
}
