// node --conditions=patchboard-source examples/browser-device/serve.ts [port]
// Bundles the page and serves it. The server must allow its origin: http: { allowed_origins: ["http://localhost:8000"] }
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const here = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
const port = Number(process.argv[2] ?? 8000);

const bundle = await build({
  entryPoints: [here('page.ts')],
  bundle: true,
  format: 'esm',
  conditions: ['patchboard-source'],
  write: false,
});
const script = bundle.outputFiles[0]?.text ?? '';

createServer((request, response) => {
  const path = new URL(request.url ?? '/', 'http://localhost').pathname;
  if (path === '/page.js') {
    response.setHeader('content-type', 'text/javascript; charset=utf-8').end(script);
    return;
  }
  readFile(here('index.html')).then(
    (page) => response.setHeader('content-type', 'text/html; charset=utf-8').end(page),
    () => response.writeHead(500).end(),
  );
}).listen(port, '127.0.0.1', function (this: { address(): unknown }) {
  const { port: bound } = this.address() as { port: number };
  console.log(`open http://localhost:${bound}`);
});
