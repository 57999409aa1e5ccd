import fc from 'fast-check';
import { expect, it, onTestFinished } from 'vitest';
import type { Log } from '../../src/core/ports.ts';
import { aServer } from '../http/support/a-server.ts';
import { add } from '../http/support/toy-tools.ts';

const VERSION = '2026-07-28';
const METHODS = [
  'server/discover',
  'tools/list',
  'tools/call',
  'tasks/get',
  'tasks/update',
  'tasks/cancel',
  'resources/list',
  'resources/templates/list',
  'resources/read',
  'prompts/list',
  'prompts/get',
  'completion/complete',
  'initialize',
  'ping',
  'logging/setLevel',
  'resources/subscribe',
  'notifications/cancelled',
  'notifications/initialized',
  'constructor',
  '__proto__',
  '',
] as const;

const junk = fc.oneof(
  fc.constantFrom<unknown>(null, true, -1, 1e308, '', 'x'.repeat(5000), [], {}, '__proto__', {
    __proto__: null,
  }),
  fc.jsonValue({ maxDepth: 3 }),
);
const params = fc.record(
  {
    name: fc.oneof(fc.constantFrom<unknown>(add.name, 'patchboard__result', 'nope', ''), junk),
    arguments: fc.oneof(fc.constant<unknown>({ a: 1, b: 2 }), junk),
    cursor: junk,
    uri: junk,
    taskId: fc.oneof(fc.constant<unknown>('tc_00000000000000000000000000'), junk),
    requestState: junk,
    inputResponses: junk,
    ref: junk,
    argument: junk,
    protocolVersion: junk,
    capabilities: junk,
    clientInfo: junk,
    level: junk,
    requestId: junk,
  },
  { requiredKeys: [] },
);
const capabilities = fc.oneof(
  fc.constantFrom<unknown>(
    {},
    { extensions: { 'io.modelcontextprotocol/tasks': {} } },
    { elicitation: { url: {} }, sampling: {}, roots: {} },
  ),
  junk,
);
const meta = fc.record(
  {
    'io.modelcontextprotocol/protocolVersion': fc.constant(VERSION),
    'io.modelcontextprotocol/clientCapabilities': capabilities,
    'io.modelcontextprotocol/clientInfo': junk,
    'io.modelcontextprotocol/logLevel': junk,
    progressToken: junk,
    'patchboard/run_id': junk,
    'patchboard/idempotency_key': junk,
    'patchboard/target': junk,
    traceparent: junk,
  },
  { requiredKeys: ['io.modelcontextprotocol/protocolVersion'] },
);
const message = fc.record({
  method: fc.constantFrom(...METHODS),
  params,
  meta,
  id: fc.oneof(fc.constant<unknown>(1), junk),
  isModern: fc.boolean(),
});

/** Every response is JSON-RPC with a status of the specification; none is a fault of the server. */
it('refuses every malformed message with a JSON-RPC error, and stays up', { timeout: 60_000 }, async () => {
  const faults: unknown[] = [];
  const note = (event: string, fields?: unknown): void => void faults.push({ event, fields });
  const quiet = (): void => undefined;
  const log: Log = { info: quiet, warn: quiet, error: note };
  const server = await aServer({ tools: [add], log });
  onTestFinished(() => server.close());
  await fc.assert(
    fc.asyncProperty(message, async ({ method, params: given, meta: about, id, isModern }) => {
      const headers: Record<string, string> = { accept: 'application/json' };
      const { name, uri, taskId } = given as Record<string, unknown>;
      const named = [name, uri, taskId].find(
        (value) => typeof value === 'string' && /^[\x21-\x7e]+$/.test(value),
      );
      if (isModern) {
        headers['mcp-protocol-version'] = VERSION;
        if (method !== '') headers['mcp-method'] = method;
        if (typeof named === 'string') headers['mcp-name'] = named.slice(0, 5000);
      }
      const body = { jsonrpc: '2.0', id, method, params: isModern ? { ...given, _meta: about } : given };
      const { status, json, text } = await server.post('/mcp', body, { headers });
      expect([200, 202, 400, 404, 405, 429]).toContain(status);
      if (status === 202) expect(text).toBe('');
      else {
        expect(json).toMatchObject({ jsonrpc: '2.0' });
        expect('result' in json !== 'error' in json).toBe(true);
        if ('error' in json)
          expect(json.error).toMatchObject({ code: expect.any(Number), message: expect.any(String) });
      }
    }),
    { numRuns: 400 },
  );
  expect(faults).toEqual([]);
  const alive = await server.post('/mcp', { jsonrpc: '2.0', id: 'x', method: 'ping' });
  expect(alive.json).toEqual({ jsonrpc: '2.0', id: 'x', result: {} });
});
