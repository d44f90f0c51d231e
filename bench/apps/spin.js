// Answers after computing for a known time: /400 takes 400 µs of this app's one thread, by its own clock. /clock tells for each length
// asked for how often and how long it has spun, so that whoever slows it by 5 % can see that it was 5 %; where somebody else took the
// processor in between, the spin was late and is counted apart. For bench/compare.py.
const spun = {}

export default {
  fetch(request) {
    const path = new URL(request.url).pathname.slice(1)
    if (path === 'clock') return Response.json(spun)
    const length = Number(path) / 1000
    const began = performance.now()
    const end = began + length
    let now = began
    while (now < end) now = performance.now()
    const sum = (spun[path] ??= { spins: 0, ms: 0, late: 0 })
    if (now - end > length / 100) {
      sum.late += 1
    } else {
      sum.spins += 1
      sum.ms += now - began
    }
    return new Response('done\n')
  },
}
