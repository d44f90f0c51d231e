// Calls of formdata: parts of all kinds, the bytes of the body, and what forms have.
const text = () => word('ab c;=\\/.', 6);
const plain = () => pick([text, () => 'übung', () => '\x00\xff', () => 'l1\r\nl2', () => ({ data: text(), filename: text(), content_type: pick(['text/x', 'image/png', undefined, '']) }),
  () => ({ data: new Uint8Array([9, 8]).buffer, filename: 'f.bin', content_type: 'application/x' }), () => ({ data: new Uint8Array([7, 0]), filename: text() }), () => ({ data: [1, 2, 3], filename: 'a', content_type: 'b' })])();
const odd = () => pick([any, () => new Uint8Array([1, 2, 255]).buffer, () => 5, () => '☃ 🦀', () => ({ data: '☃' })])();
const parts = (name, content) => many(4, () => [name(), content(), ...(chance(0.3) ? [text()] : [])]);

function body(list) {
  const form = new subject.FormData();
  form.boundary = 'boundary';
  for (const part of list) form.append(...part);
  return form.body();
}

function calls() {
  return {
    FormData: { count: 3, make: () => [], run: () => { const form = new subject.FormData(); return [/^[-\w.]{20,}$/.test(form.boundary), form instanceof subject.FormData, subject.FormData() instanceof subject.FormData]; } },
    'FormData body': { count: 4 * COUNT, make: () => [parts(text, plain)], run: body },
    'FormData odd': { make: () => [parts(() => pick([text(), 5, null, 'a"b', 'l1\nl2', '☃']), odd)], run: body },
  };
}
