// What requests and responses have in common: a body that is read once, as text, JSON, bytes, a form or a stream.
// What is kept for a message is made when its body is first touched, so that a message nobody reads costs nothing.
({ ReadableStream, Blob, File, FormData, blobBytes, bodyLength, bodyStream, collect, decode, parseForm, pieceOf, pull }) => {
  const STATE = Symbol('body')

  // { request } for one that is received, { value } for one that is there, or { stream }.
  const stateOf = (message, make) => {
    const known = message[STATE]
    if (known) return known
    const state = make(message)
    Object.defineProperty(message, STATE, { value: state })
    return state
  }

  const isStream = (value) => value instanceof ReadableStream
  const isPieces = (value) => typeof value === 'object' && value !== null
    && (typeof value[Symbol.asyncIterator] === 'function' || typeof value[Symbol.iterator] === 'function')

  const chunkBytes = (chunk) => {
    if (typeof chunk === 'string') return new TextEncoder().encode(chunk)
    if (chunk instanceof ArrayBuffer) return new Uint8Array(chunk)
    if (ArrayBuffer.isView(chunk)) return new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.byteLength)
    throw new TypeError(`a piece of the body is ${typeof chunk}, expected a string, an ArrayBuffer or a typed array`)
  }

  const gather = async (value) => {
    if (value === undefined || value === null) return new Uint8Array(0)
    const blob = blobBytes(value)
    if (blob) return blob
    if (typeof value === 'string' || value instanceof ArrayBuffer || ArrayBuffer.isView(value)) return chunkBytes(value)
    if (!isPieces(value)) throw new TypeError('a file body is read by the sender alone')
    const pieces = []
    for await (const chunk of value) pieces.push(chunkBytes(chunk))
    const all = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, 0))
    let at = 0
    for (const piece of pieces) {
      all.set(piece, at)
      at += piece.length
    }
    return all
  }

  const claim = (state) => {
    if (state.used) throw new TypeError('the body has been read already')
    if (state.stream?.locked) throw new TypeError('the body is locked to a reader')
    state.used = true
  }

  // 0 ArrayBuffer, 1 text, 2 JSON, 3 Uint8Array
  const read = (state, kind) => new Promise((resolve, reject) => {
    claim(state)
    if (state.request && !state.stream) {
      collect(state.request, kind, (error, value) => error !== undefined ? reject(error) : resolve(value))
      return
    }
    gather(state.stream ?? state.value).then((bytes) => {
      if (kind === 1) return resolve(decode(bytes))
      if (kind === 2) return resolve(JSON.parse(decode(bytes)))
      const copy = bytes.slice()
      resolve(kind === 3 ? copy : copy.buffer)
    }).catch(reject)
  })

  const streamOf = (state) => {
    if (state.stream) return state.stream
    if (state.request) {
      if (bodyLength(state.request) === 0) return null
      return state.stream = bodyStream(state.request)
    }
    const { value } = state
    if (value === undefined || value === null) return null
    if (isStream(value)) return state.stream = value
    return state.stream = ReadableStream.from(isPieces(value) && typeof value !== 'string' && !ArrayBuffer.isView(value) ? value : [value])
  }

  const readForm = async (message, state) => {
    const type = message.headers.get('content-type') ?? ''
    const parts = parseForm(await read(state, 0), type)
    const form = new FormData()
    for (let at = 0; at < parts.length; at += 4) {
      const [name, file, kind, content] = parts.slice(at, at + 4)
      if (file === undefined) form.append(name, content)
      else form.append(name, new File([content], file, { type: kind }))
    }
    return form
  }

  // Puts the methods onto a prototype; `make` gives the state of a message whose body nobody has touched yet.
  const install = (prototype, make) => {
    const methods = {
      text() { return read(stateOf(this, make), 1) },
      json() { return read(stateOf(this, make), 2) },
      arrayBuffer() { return read(stateOf(this, make), 0) },
      bytes() { return read(stateOf(this, make), 3) },
      async blob() {
        const bytes = await read(stateOf(this, make), 3)
        return new Blob([bytes], { type: this.headers.get('content-type') ?? '' })
      },
      formData() { return readForm(this, stateOf(this, make)) },
    }
    for (const [name, value] of Object.entries(methods)) {
      Object.defineProperty(prototype, name, { value, writable: true, configurable: true })
    }
    Object.defineProperty(prototype, 'body', { get() { return streamOf(stateOf(this, make)) }, configurable: true })
    Object.defineProperty(prototype, 'bodyUsed', {
      get() { return stateOf(this, make).used === true },
      configurable: true,
    })
  }

  return { claim, install, isPieces, isStream, stateOf, streamOf }
}
