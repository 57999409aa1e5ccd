import { builtinModules } from 'node:module';
import { fileURLToPath } from 'node:url';
import { createContext, runInContext } from 'node:vm';
import { build, type Metafile } from 'esbuild';
import { beforeAll, describe, expect, it } from 'vitest';
import { aCall, fakeServer, json, openSse, type FakeServer } from './fake-server.ts';

let script = '';
let metafile: Metafile;

beforeAll(async () => {
  const result = await build({
    entryPoints: [fileURLToPath(new URL('../src/index.ts', import.meta.url))],
    conditions: ['patchboard-source'],
    platform: 'browser',
    format: 'iife',
    globalName: 'patchboard',
    bundle: true,
    write: false,
    metafile: true,
  });
  script = result.outputFiles[0]!.text;
  metafile = result.metafile;
});

/** What a page has, and nothing of Node. */
const WEB = {
  fetch,
  AbortController,
  AbortSignal,
  TextDecoder,
  setTimeout,
  clearTimeout,
  performance,
  crypto,
};

/** React Native's engine: no `crypto`, no `performance`. */
const BARE = { fetch, AbortController, AbortSignal, TextDecoder, setTimeout, clearTimeout };

function runIn(globals: Record<string, unknown>, server: FakeServer, code: string): Promise<unknown> {
  const context = createContext({ ...globals, url: server.url });
  runInContext(script, context);
  return runInContext(`(async () => { ${code} })()`, context) as Promise<unknown>;
}

describe('the bundle for browsers', () => {
  it('holds our own sources and nothing of Node', () => {
    const imported = Object.values(metafile.inputs).flatMap((input) =>
      input.imports.map((item) => item.path),
    );
    const ofNode = imported.filter((path) => path.startsWith('node:') || builtinModules.includes(path));
    expect(ofNode).toEqual([]);
    const inputs = Object.keys(metafile.inputs);
    expect(inputs.filter((path) => !/packages\/(client|wire)\/src\//.test(path))).toEqual([]);
    expect(script).not.toMatch(/\b(require|process|Buffer|import\.meta|node:)\b/);
  });

  it.each([
    ['a page', WEB],
    ['a bare engine', BARE],
  ])('calls a tool and follows its events in %s', async (_name, globals) => {
    const server = await fakeServer((seen, response) => {
      if (seen.method === 'POST') return json(response, 200, aCall());
      const send = openSse(response);
      send(1, 'call.state', { state: 'EXECUTING' });
      send(2, 'call.state', { state: 'COMPLETED' });
    });
    const seen = await runIn(
      globals,
      server,
      `const client = patchboard.createClient({ url });
       const call = await client.call('demo.echo', { text: 'hi' });
       const states = [];
       for await (const event of client.events({ callId: call.tool_call_id })) states.push(event.data.state);
       return JSON.stringify([call.result, states]);`,
    );
    expect(seen).toBe('[{"value":42},["EXECUTING","COMPLETED"]]');
    expect(server.seen[0]!.headers['idempotency-key']).toMatch(/^.{16,}$/);
  });

  it('says what to pass where there is no fetch', async () => {
    const server = await fakeServer(() => undefined);
    const created = runIn({ ...WEB, fetch: undefined }, server, 'patchboard.createClient({ url });');
    await expect(created).rejects.toMatchObject({
      message: expect.stringContaining('options.fetch') as string,
    });
  });
});
