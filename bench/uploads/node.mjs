// Node's http/server_upload experiment as a server: `node node.mjs PORT`. Uploads to /BACKPRESSURE/DELAY are read to their end
// and answered 200 without a body. DELAY is what comes before a piece is processed: -1 nothing, 0 a turn of the event loop, else
// milliseconds. With BACKPRESSURE 1 the body is piped into a Writable, and the answer waits until all of it is processed.
import http from 'node:http'
import { Writable, pipeline } from 'node:stream'

const highWaterMark = 64 * 1024
let bytes = 0

const process = (delay, piece, done) => {
  const now = () => {
    bytes += piece.length
    done?.()
  }
  if (delay < 0) now()
  else if (delay === 0) setImmediate(now)
  else setTimeout(now, delay)
}

const server = http.createServer({ highWaterMark, keepAlive: true }, (request, response) => {
  const [, backpressure, delay] = request.url.split('/').map(Number)
  if (backpressure) {
    const write = (piece, _encoding, done) => process(delay, piece, done)
    pipeline(request, new Writable({ highWaterMark, write }), (error) => error ?? response.end())
    return
  }
  request.on('data', (piece) => process(delay, piece))
  request.on('end', () => response.end())
})
server.keepAliveTimeout = 0
server.maxRequestsPerSocket = 0
server.listen(Number(globalThis.process.argv[2]), '127.0.0.1', 4096)
