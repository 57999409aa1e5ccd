import { classifyInboundRequest, type InboundClassificationOutcome } from '@modelcontextprotocol/server';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { classify } from './message.ts';

type Sent = Record<string, unknown>;

const VERSION = 'io.modelcontextprotocol/protocolVersion';
const CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities';
const METHODS = ['tools/call', 'tools/list', 'initialize', 'server/discover', 'notifications/x'];

/** A well-formed request of either era, with the headers that it needs. */
function wellFormed(method: string, isModern: boolean): { readonly body: Sent; readonly headers: Sent } {
  if (!isModern) return { body: { jsonrpc: '2.0', id: 1, method, params: { name: 'a' } }, headers: {} };
  const meta: Sent = { [VERSION]: '2026-07-28', [CAPABILITIES]: {} };
  return {
    body: { jsonrpc: '2.0', id: 1, method, params: { name: 'a', _meta: meta } },
    headers: { 'mcp-protocol-version': '2026-07-28', 'mcp-method': method, 'mcp-name': 'a' },
  };
}

const PLACES = [
  ['body', 'jsonrpc'],
  ['body', 'id'],
  ['body', 'method'],
  ['body', 'params'],
  ['body', 'result'],
  ['body', 'error'],
  ['body', 'more'],
  ['body', 'params', '_meta'],
  ['body', 'params', 'name'],
  ['body', 'params', '_meta', VERSION],
  ['body', 'params', '_meta', CAPABILITIES],
  ['headers', 'mcp-protocol-version'],
  ['headers', 'mcp-method'],
  ['headers', 'mcp-name'],
] as const;

const anything = fc.oneof(
  fc.constantFrom<unknown>(
    undefined,
    null,
    true,
    0,
    1.5,
    '',
    'x',
    [],
    {},
    '2026-07-28',
    '2025-11-25',
    '1999-01-01',
  ),
  fc.constantFrom<unknown>(...METHODS),
  fc.jsonValue({ maxDepth: 2 }),
);
const change = fc.record({ place: fc.constantFrom(...PLACES), value: anything });
const message = fc
  .record({
    method: fc.constantFrom(...METHODS),
    isModern: fc.boolean(),
    changes: fc.array(change, { maxLength: 3 }),
  })
  .map(({ method, isModern, changes }) => {
    const sent = wellFormed(method, isModern);
    for (const { place, value } of changes) put(sent as unknown as Sent, place, structuredClone(value));
    // As it arrives: members that are undefined are not there.
    return JSON.parse(JSON.stringify(sent)) as { body: unknown; headers: Sent };
  });
const batch = fc
  .array(message, { maxLength: 3 })
  .map((sent) => ({ body: sent.map(({ body }) => body), headers: {} }));

function put(into: Sent, [name, ...rest]: readonly string[], value: unknown): void {
  if (name === undefined || typeof into !== 'object' || into === null) return;
  // Header values are text.
  const isText = !name.startsWith('mcp-') || value === undefined || typeof value === 'string';
  if (rest.length === 0) into[name] = isText ? value : JSON.stringify(value);
  else put(into[name] as Sent, rest, value);
}

function oracle(body: unknown, headers: Sent): InboundClassificationOutcome {
  const of = (name: string, header: string): Sent =>
    headers[header] === undefined ? {} : { [name]: headers[header] };
  return classifyInboundRequest({
    httpMethod: 'POST',
    ...of('protocolVersionHeader', 'mcp-protocol-version'),
    ...of('mcpMethodHeader', 'mcp-method'),
    ...of('mcpNameHeader', 'mcp-name'),
    body,
  });
}

it('sorts every message by protocol era as the SDK does', () => {
  const count = { modern: 0, 'modern notification': 0, legacy: 0, rejected: 0 };
  fc.assert(
    fc.property(fc.oneof({ weight: 9, arbitrary: message }, batch), ({ body, headers }) => {
      const found = classify(body, headers as Record<string, string>);
      const expected = oracle(body, headers);
      count[found.kind] += 1;
      switch (found.kind) {
        case 'modern':
          expect(expected).toMatchObject({ kind: 'modern', messageKind: 'request' });
          break;
        case 'modern notification':
          expect(expected).toMatchObject({ kind: 'modern', messageKind: 'notification' });
          break;
        case 'legacy':
          expect(expected.kind).toBe('legacy');
          break;
        case 'rejected':
          // Or a version of the modern era that this server does not know.
          expect(['reject', 'modern']).toContain(expected.kind);
      }
    }),
    { numRuns: 3000 },
  );
  // The rules that differ were tried.
  expect(Math.min(count.modern, count.legacy, count.rejected)).toBeGreaterThan(20);
});
