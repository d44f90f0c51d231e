// Calls of formdata: parts of all kinds, the bytes of the body, and what forms have.
const text = () => word('ab c;=\\/.', 6);
const name = () => (chance(0.9) ? text() : pick([5, true, null, undefined, 'a"b', 'l1\nl2', 'ü', '☃']));
const content = () => pick([() => text(), () => text(), () => 'übung', () => '☃ 🦀', () => '\x00\xff', () => new Uint8Array([1, 2, 255]).buffer, () => new Uint8Array([0, 13, 10]), () => 5, () => true, () => 'l1\r\nl2',
  () => ({ data: text(), filename: text(), content_type: pick(['text/x', 'image/png', undefined]) }), () => ({ data: new Uint8Array([9, 8]).buffer, filename: 'f.bin', content_type: 'application/x' }), () => ({ data: [1, 2, 3], filename: 'a', content_type: 'b' }), any])();
const parts = () => many(4, () => [name(), content(), ...(chance(0.3) ? [chance(0.9) ? text() : any()] : [])]);

function calls() {
  return {
    FormData: { count: 3, make: () => [], run: () => { const form = new subject.FormData(); return [/^[-\w]{20,}$/.test(form.boundary), form instanceof subject.FormData, subject.FormData() instanceof subject.FormData]; } },
    'FormData body': {
      count: 4 * COUNT, make: () => [parts()],
      run: (list) => {
        const form = new subject.FormData();
        form.boundary = 'boundary';
        for (const part of list) form.append(...part);
        return form.body();
      },
    },
  };
}
