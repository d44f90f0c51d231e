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
  class TextDecoder {
    #label; #fatal; #keepMark; #rest = null
    constructor(label = 'utf-8', options) {
      const name = { 'utf-8': 'utf-8', utf8: 'utf-8', 'unicode-1-1-utf-8': 'utf-8', 'utf-16le': 'utf-16le', 'utf-16': 'utf-16le', 'utf-16be': 'utf-16be' }[`${label}`.trim().toLowerCase()]
      if (!name) throw new RangeError(`TextDecoder does not know the encoding '${label}': expected utf-8, utf-16le or utf-16be`)
      this.#label = name
      this.#fatal = !!options?.fatal
      this.#keepMark = !!options?.ignoreBOM
    }
    get encoding() { return this.#label }
    get fatal() { return this.#fatal }
    get ignoreBOM() { return this.#keepMark }
    decode(input, options) {
      if (typeof input === 'string') return input
      let bytes = input === undefined ? new Uint8Array(0) : ArrayBuffer.isView(input) ? new Uint8Array(input.buffer, input.byteOffset, input.byteLength) : new Uint8Array(input)
      if (this.#rest) {
        const joined = new Uint8Array(this.#rest.length + bytes.length)
        joined.set(this.#rest)
        joined.set(bytes, this.#rest.length)
        bytes = joined
      }
      const streaming = !!options?.stream
      const [text, used] = decode(this.#label, bytes, this.#fatal | this.#keepMark << 1 | streaming << 2)
      this.#rest = streaming && used < bytes.length ? bytes.slice(used) : null
      return text
    }
  }
  return { TextEncoder, TextDecoder }
}
