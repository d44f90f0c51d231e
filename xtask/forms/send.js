// Sends the forms of FORMS, each in the way it names.
import http from 'k6/http';
import { FormData } from 'onrush/http';
import { FormData as Library } from 'https://jslib.k6.io/formdata/0.0.2/index.js';

const forms = JSON.parse(open(__ENV.FORMS));
const bytes = (list) => new Uint8Array(list).buffer;

function filled(form, fields) {
  for (const { name, text, content, filename, type } of fields) {
    form.append(name, text === undefined ? http.file(bytes(content), filename, type) : text);
  }
  return form;
}

function asObject(fields) {
  const object = {};
  for (const { name, text, content, filename, type } of fields) {
    object[name] = text === undefined ? http.file(bytes(content), filename, type) : text;
  }
  return object;
}

export default function () {
  for (const { way, fields } of forms) {
    const url = `${__ENV.TARGET}/${way}`;
    if (way === 'object') http.post(url, asObject(fields));
    else if (way === 'form') http.post(url, filled(new FormData(), fields));
    else {
      const form = filled(way === 'library' ? new Library() : new FormData(), fields);
      http.post(url, form.body(), { headers: { 'Content-Type': `multipart/form-data; boundary=${form.boundary}` } });
    }
  }
}
