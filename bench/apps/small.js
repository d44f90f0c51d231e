// The small answer of bench/serve_small.py, made by a script: as long as nginx's and Node's.
export default {
  fetch() {
    return new Response('hello from script\n', { headers: { 'content-type': 'text/plain' } })
  },
}
