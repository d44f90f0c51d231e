// The server's end of a WebSocket: methods and getters are native, `data` is the app's to use.
({ socketNatives }) => {
  class ServerWebSocket {
    constructor() { throw new TypeError('a ServerWebSocket is made by the server alone') }
    get [Symbol.toStringTag]() { return 'ServerWebSocket' }
  }
  for (const [name, native] of Object.entries(socketNatives)) {
    const getter = name === 'readyState' || name === 'bufferedAmount' || name === 'protocol'
    Object.defineProperty(ServerWebSocket.prototype, name, getter ? { get: native, configurable: true } : { value: native, writable: true, configurable: true })
  }
  return { ServerWebSocket }
}
