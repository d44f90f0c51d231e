// TextEncoder and TextDecoder over two native functions. Evaluated when a script first names one of them.
(encode, decode) => {
  class TextEncoder {
    get encoding() { return 'utf-8' }
    encode(text = '') { return new Uint8Array(encode(text === null ? '' : `${text}`)) }
    encodeInto(text, target) {
      const source = `${text}`
      let read = 0, written = 0
      for (const character of source) {
        const bytes = new Uint8Array(encode(character))
        if (written + bytes.length > target.length) break
        target.set(bytes, written)
        read += character.length
        written += bytes.length
      }
      return { read, written }
    }
  }
  // The labels of the Encoding Standard for what k6 decodes.
  const LABELS = {
    'utf-8': ['unicode-1-1-utf-8', 'unicode11utf8', 'unicode20utf8', 'utf-8', 'utf8', 'x-unicode20utf8'],
    'utf-16be': ['unicodefffe', 'utf-16be'],
    'utf-16le': ['csunicode', 'iso-10646-ucs-2', 'ucs-2', 'unicode', 'unicodefeff', 'utf-16', 'utf-16le']
  }
  class TextDecoder {
    #label; #fatal; #keepMark; #rest = null; #hasBegun = false
    constructor(label = 'utf-8', options) {
      const wanted = `${label}`.replace(/^[\t\n\f\r ]+|[\t\n\f\r ]+$/g, '').toLowerCase()
      const name = Object.keys(LABELS).find((name) => LABELS[name].includes(wanted))
      if (!name) throw new RangeError(`unsupported encoding: ${label}: expected utf-8, utf-16le or utf-16be`)
      this.#label = name
      this.#fatal = !!options?.fatal
      this.#keepMark = !!options?.ignoreBOM
    }
    get encoding() { return this.#label }
    get fatal() { return this.#fatal }
    get ignoreBOM() { return this.#keepMark }
    decode(input, options) {
      if (typeof input === 'string') return input
      let bytes
      if (input === undefined) bytes = new Uint8Array(0)
      else if (ArrayBuffer.isView(input)) bytes = new Uint8Array(input.buffer, input.byteOffset, input.byteLength)
      else if (input instanceof ArrayBuffer) bytes = new Uint8Array(input)
      else throw new TypeError('data is not an ArrayBuffer, typed array, or DataView')
      if (this.#rest) {
        const joined = new Uint8Array(this.#rest.length + bytes.length)
        joined.set(this.#rest)
        joined.set(bytes, this.#rest.length)
        bytes = joined
      }
      const streaming = !!options?.stream
      // A byte order mark is one at the beginning of a stream only.
      const keepMark = this.#keepMark || this.#hasBegun
      this.#rest = null
      const [text, used] = decode(this.#label, bytes, this.#fatal | keepMark << 1 | streaming << 2)
      if (streaming && used < bytes.length) this.#rest = bytes.slice(used)
      this.#hasBegun = streaming && (this.#hasBegun || used > 0)
      return text
    }
  }
  return { TextEncoder, TextDecoder }
}
