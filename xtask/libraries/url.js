// Calls of url: addresses of all kinds, every property, and queries.
const part = () => word('ab/.?#&=%:@ ü☃+~[]', 6);
// Bytes behind % that are no UTF-8 are odd.
const clean = () => word('ab/.?#&=:@ ü☃+~[]', 6);
const host = () => pick(['h.test', 'EXAMPLE.com', '127.0.0.1', '[::1]', 'ex%41mple.org', 'münchen.de', 'a b', '', '0x7f.1', 'h.test:80', 'h.test:8443', 'h.test:99999']);
const address = () => pick([
  () => `${pick(['http', 'https', 'ftp', 'ws', 'file', 'data', 'blob', 'HTTP', 'x-own', ''])}:${pick(['//', '/', '', '///'])}${chance(0.3) ? 'u:p@' : ''}${host()}/${part()}?${part()}#${part()}`,
  () => `https://h.test/${part()}`, () => part(), () => `//${host()}/x`, () => `?${part()}`, () => '', () => pick(['/relative', '../up', './x', '#f', 'https://h.test']),
])();
const cleanHost = () => pick(['h.test', 'EXAMPLE.com', '127.0.0.1', '[::1]', 'münchen.de', 'h.test:80', 'h.test:8443', 'h.test:99999', '']);
const cleanAddress = () => pick([
  () => `${pick(['http', 'https', 'ftp', 'ws', 'HTTP', 'x-own', ''])}:${pick(['//', '/', ''])}${chance(0.2) ? 'u:p@' : ''}${cleanHost()}/${word('ab/.ü+~', 8)}?${clean()}#${clean()}`,
  () => `https://h.test/${clean()}`, () => `//${cleanHost()}/x`, () => `?${clean()}`, () => '', () => pick(['/relative', '../up', './x', '#f', 'https://h.test', 'mailto:a@b'])])();
const given = () => (chance(0.93) ? address() : any());
const PROPERTIES = ['href', 'origin', 'protocol', 'username', 'password', 'host', 'hostname', 'port', 'pathname', 'search', 'hash'];
const told = (url) => [...PROPERTIES.map((name) => url[name]), String(url), JSON.stringify(url), String(url.searchParams)];
const pairs = () => pick([() => clean(), () => `?${clean()}`, () => many(3, () => [clean(), clean()]), () => Object.fromEntries(many(3, () => [clean(), clean()])), () => undefined, () => (chance(0.3) ? any() : '')])();
const query = (params) => [[...params], String(params), [...params.keys()], [...params.values()]];
const BASES = ['https://u:p@h.test:8443/a/b?c=d#e', 'http://h.test/'];
const set = (one, name, value) => {
  const url = new subject.URL(one);
  url[name] = value;
  return told(url);
};
/** Values that each property takes. */
const VALUES = {
  href: cleanAddress, protocol: () => pick(['http:', 'ftp', 'wss:', 'x:']), username: () => word('abü', 4), password: () => word('ab', 4), host: cleanHost, hostname: () => pick(['h2.test', '127.1']), port: () => pick(['8080', '80', '', '443']),
  pathname: () => word('ab/. ü', 8), search: clean, hash: clean,
};

function calls() {
  return {
    URL: { count: 4 * COUNT, make: () => (chance(0.5) ? [cleanAddress()] : [cleanAddress(), cleanAddress()]), run: (...args) => told(new subject.URL(...args)) },
    'URL odd': { count: 2 * COUNT, make: () => (chance(0.5) ? [given()] : [given(), given()]), run: (...args) => told(new subject.URL(...args)) },
    'URL setter': { count: 4 * COUNT, make: () => { const name = pick(Object.keys(VALUES)); return [pick(BASES), name, VALUES[name]()]; }, run: set },
    'URL odd setter': { make: () => [pick([...BASES, 'mailto:a@b', 'file:///x/y']), pick(PROPERTIES), pick([part, host, given])()], run: set },
    'URL searchParams': { make: () => ['https://h.test/?a=1&b=2', ...pick([() => [pick(['append', 'set']), clean(), clean()], () => ['delete', pick(['a', 'b', clean()])], () => ['sort']])()], run: (one, name, ...args) => { const url = new subject.URL(one); url.searchParams[name](...args); return told(url); } },
    'URL odd query': { make: () => [part()], run: (init) => query(new subject.URLSearchParams(init)) },
    URLSearchParams: { count: 2 * COUNT, make: () => [pairs()], run: (init) => query(new subject.URLSearchParams(init)) },
    'URLSearchParams methods': {
      count: 2 * COUNT, make: () => [pairs(), many(4, () => pick([() => ['append', clean(), clean()], () => ['set', clean(), clean()], () => ['delete', clean()], () => ['sort']])()), clean()],
      run: (init, changes, name) => {
        const params = new subject.URLSearchParams(init);
        for (const [method, ...args] of changes) params[method](...args);
        const seen = [];
        params.forEach((value, key) => seen.push([key, value]));
        return [query(params), seen, params.get(name), params.getAll(name), params.has(name)];
      },
    },
  };
}
