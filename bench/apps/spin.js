// Answers after computing for a known time: /400 takes 400 µs of this app's one thread, by its own clock. /clock tells for each length
// asked for how often and how long it has spun, so that whoever slows it by 5 % can see that it was 5 %. For bench/compare.py.
const spun = {}

export default {
  fetch(request) {
    const path = new URL(request.url).pathname.slice(1)
    if (path === 'clock') return Response.json(spun)
    const began = performance.now()
    const end = began + Number(path) / 1000
    let now = began
    while (now < end) now = performance.now()
    const sum = (spun[path] ??= { requests: 0, ms: 0 })
    sum.requests += 1
    sum.ms += now - began
    return new Response('done\n')
  },
}
