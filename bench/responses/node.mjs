// For Node: the same bodies as app.ru, on tcp, tls and unix sockets; NAME is `@name`, a socket without a file, and may be missing.
//
//     node node.mjs TCP_PORT TLS_PORT SOCKET KEY CERTIFICATE [NAME]
import http from 'node:http';
import https from 'node:https';
import { readFileSync } from 'node:fs';

const [tcp, tls, socket, key, cert, name] = process.argv.slice(2);
const PIECE = 'o'.repeat(1023) + '\n';
const strings = new Map([1, 10, 100].map((n) => [n, PIECE.repeat(n)]));

function answer(request, response) {
  const [, , kind, size] = request.url.split('/');
  const n = parseInt(size, 10);
  response.setHeader('Content-Type', 'text/plain');
  if (kind !== 'chunked') response.setHeader('Content-Length', n * 1024);
  if (kind === 'string') {
    response.end(strings.get(n));
    return;
  }
  for (let sent = 0; sent < n; sent++) response.write(PIECE);
  response.end();
}

const backlog = 4096;
http.createServer(answer).listen({ port: Number(tcp), host: '127.0.0.1', backlog });
https.createServer({ key: readFileSync(key), cert: readFileSync(cert) }, answer).listen({ port: Number(tls), host: '127.0.0.1', backlog });
http.createServer(answer).listen({ path: socket, backlog });
if (name) http.createServer(answer).listen({ path: name.replace('@', '\0'), backlog });
