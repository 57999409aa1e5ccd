// Bundles and serves the page; see README.md. Usage: serve.ts [port], default 8000.
import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const here = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
const port = Number(process.argv[2] ?? 8000);
const server = process.env['PATCHBOARD_URL'] ?? 'http://127.0.0.1:8080';
const key = process.env['PATCHBOARD_KEY'] ?? '';

const bundle = await build({
  entryPoints: [here('page.ts')],
  bundle: true,
  format: 'esm',
  conditions: ['patchboard-source'],
  write: false,
});
const script = bundle.outputFiles[0]?.text ?? '';

/** Returns a ticket that opens one WebSocket within a minute, or null if this program has no key (local mode). */
async function ticket(): Promise<string | null> {
  if (key === '') return null;
  const response = await fetch(`${server}/v1/tickets`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: '{}',
  });
  const made = (await response.json()) as { ticket?: string; detail?: string };
  if (made.ticket === undefined) throw new Error(made.detail ?? `HTTP ${response.status}`);
  return made.ticket;
}

async function serve({ method, headers, url }: IncomingMessage, response: ServerResponse): Promise<void> {
  switch (`${method} ${new URL(url ?? '/', 'http://localhost').pathname}`) {
    case 'GET /':
      response.setHeader('content-type', 'text/html; charset=utf-8').end(await readFile(here('index.html')));
      return;
    case 'GET /page.js':
      response.setHeader('content-type', 'text/javascript; charset=utf-8').end(script);
      return;
    case 'POST /connection':
      // Tickets are for this page only: browsers set this header themselves.
      if (headers['sec-fetch-site'] !== 'same-origin') break;
      response
        .setHeader('content-type', 'application/json')
        .end(JSON.stringify({ server, ticket: await ticket() }));
      return;
  }
  response.writeHead(404).end();
}

createServer((request, response) => {
  serve(request, response).catch((error: unknown) => {
    console.error(error instanceof Error ? error.message : error);
    response.writeHead(502).end();
  });
}).listen(port, '127.0.0.1', () => console.log(`open http://localhost:${port}`));
