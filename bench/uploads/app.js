// The same as node.mjs for `onrush serve`. With ALLOCATE=1 pieces are received into buffers of the app, which uses them again;
// otherwise into the server's pool, and each is given back once it was processed.
const SIZE = 64 * 1024
const free = []
let bytes = 0

const recycle = __ENV.ALLOCATE === '1'
  ? (piece) => { free.push(piece.buffer) }
  : (piece) => Onrush.release(piece)

const process = (piece) => {
  bytes += piece.length
  recycle(piece)
}

const processLater = (delay, piece) => new Promise((done) => {
  setTimeout(() => {
    process(piece)
    done()
  }, delay)
})

async function fetch(request) {
  const [backpressure, delay] = request.url.split('/').slice(-2).map(Number)
  for await (const piece of request.body) {
    if (delay < 0) process(piece)
    else if (backpressure) await processLater(delay, piece)
    else processLater(delay, piece)
  }
  return new Response(null)
}

export default __ENV.ALLOCATE === '1'
  ? { fetch, allocate: () => free.pop() ?? new ArrayBuffer(SIZE) }
  : { fetch }
