// Parts of multipart bodies by Node's fetch: parse.mjs FOLDER, which has N.type and N.body.
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

const octets = (text) => Array.from(new TextEncoder().encode(text));
const folder = process.argv[2];
const count = readdirSync(folder).filter((name) => name.endsWith('.body')).length;
for (let number = 0; number < count; number++) {
  const read = (suffix) => readFileSync(join(folder, `${number}.${suffix}`));
  const parts = [];
  try {
    const response = new Response(read('body'), { headers: { 'Content-Type': read('type').toString('latin1') } });
    for (const [name, value] of await response.formData()) {
      const text = typeof value === 'string';
      parts.push({
        name: octets(name),
        filename: text ? null : octets(value.name),
        type: text ? null : octets(value.type),
        content: text ? octets(value) : Array.from(new Uint8Array(await value.arrayBuffer())),
      });
    }
    console.log(JSON.stringify(parts));
  } catch (error) {
    console.log(JSON.stringify(String(error.cause ?? error)));
  }
}
