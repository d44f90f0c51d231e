// For `onrush serve`: the same bodies as app.ru, by a program.
const PIECE = 'o'.repeat(1023) + '\n'
const bodies = Object.fromEntries([1, 10, 100].map((n) => [n, { string: PIECE.repeat(n), array: Array(n).fill(PIECE) }]))

function* pieces(n) {
  for (let sent = 0; sent < n; sent++) yield PIECE
}

export default {
  fetch(request) {
    const [, , , , kind, size] = request.url.split('/')
    const n = parseInt(size, 10)
    const body = kind === 'chunked' ? pieces(n) : bodies[n][kind]
    return new Response(body, { headers: { 'content-type': 'text/plain' } })
  },
}
