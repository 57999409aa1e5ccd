import { describe, expect, it } from 'vitest';
import { anEngine, accepted, aPrincipal, aRequest } from '../../../test/support/an-engine.ts';
import { anOpenApiCaller, json } from '../../../test/support/an-openapi-caller.ts';
import { FakeClock, settled } from '../../../test/support/fake-clock.ts';
import { mcpSettings } from '../../../test/upstreams/support/an-mcp-upstream.ts';
import {
  rejects,
  respondsError,
  responds,
  ScriptedConnection,
  type Step,
} from '../../../test/upstreams/support/scripted-connection.ts';
import type { Log } from '../../core/ports.ts';
import { ConnectionLost, NotStarted } from '../mcp/mcp-connection.ts';
import { McpUpstream } from '../mcp/mcp-upstream.ts';
import { stderrLog } from '../mcp/stderr-log.ts';
import { SecretMask } from './secret-mask.ts';

const HEADER = 'Bearer hdr/Planted+Secret=1';
const VARIABLE = 'env "Planted" Secret 2';
const TOKEN = 'tok.Planted.Secret-3';
const PLANTED = [HEADER.slice(7), VARIABLE, TOKEN];

/** The secrets as an upstream may repeat them. */
const ECHO = PLANTED.flatMap((secret) => [
  secret,
  JSON.stringify({ secret }),
  encodeURIComponent(secret),
  Buffer.from(secret).toString('base64'),
  Buffer.from(`user:${secret}`).toString('base64url'),
]).join(' | ');

/** The mask of the settings' values, and of a token that was obtained later. */
function aMask(): SecretMask {
  const mask = new SecretMask([HEADER, VARIABLE]);
  mask.add([TOKEN]);
  return mask;
}

/** Without the mask, each of these finds a part of the echo. */
function expectNoSecret(value: unknown): void {
  const text = JSON.stringify(value);
  expect(text).toContain('redacted');
  expect(text.replaceAll('\\', '')).not.toMatch(/planted/i);
  for (const secret of PLANTED)
    expect(text).not.toContain(Buffer.from(secret).toString('base64').slice(0, 12));
}

async function called(...steps: Step[]) {
  const connection = new ScriptedConnection(...steps);
  const clock = new FakeClock();
  const upstream = new McpUpstream(mcpSettings(), {
    connection,
    clock,
    mask: aMask(),
    instanceId: 'this-instance',
  });
  const { engine, store } = await anEngine({ clock, upstreams: [upstream] });
  const schema = { type: 'object', properties: { q: { type: 'string', description: ECHO } } };
  connection.lists([{ name: 'search', title: 'Search', description: ECHO, inputSchema: schema }]);
  const submitted = await engine.submit(aRequest({ toolName: 'github.search' }), aPrincipal());
  await settled();
  const tools = engine.tools(aPrincipal());
  return { call: await store.findCall(accepted(submitted).id), tools };
}

describe('secrets that an upstream repeats', () => {
  it.each<[string, Step]>([
    ['the text of a result', responds({ content: [{ type: 'text', text: ECHO }] })],
    ['a structured result', responds({ content: [], structuredContent: { [ECHO]: [ECHO] } })],
    ['the result of a failed tool', responds({ isError: true, content: [{ type: 'text', text: ECHO }] })],
    ['an error of the protocol', respondsError(-32000, ECHO, { ECHO })],
    ['a refusal', rejects(new NotStarted(ECHO, { mayRetry: false, status: 401 }))],
    ['a lost connection', rejects(new ConnectionLost(ECHO))],
  ])('are masked in %s', async (_, step) => {
    const { call } = await called(step);
    expect(call).toBeDefined();
    expectNoSecret(call);
  });

  it('are masked in the list of tools', async () => {
    const { tools } = await called(responds({ content: [] }));
    expectNoSecret(tools.filter(({ name }) => name === 'github.search'));
  });

  it('are masked in lines of stderr, also where a line is truncated', () => {
    const lines: unknown[] = [];
    const push = (event: string, fields?: object) => void lines.push(event, fields);
    const log: Log = { info: push, warn: push, error: push };
    const mask = aMask();
    const clock = new FakeClock();
    const write = stderrLog({
      upstream: 'github',
      log: mask.log(log),
      clock,
      mask: (text) => mask.text(text),
    });
    write(Buffer.from(`${ECHO}\n${'x '.repeat(990)}${ECHO}\n`));
    expect(lines).toHaveLength(4);
    expectNoSecret(lines);
  });

  it.each([
    ['a result', () => json({ [ECHO]: ECHO })],
    ['a text', () => new Response(ECHO, { headers: { 'content-type': 'text/plain' } })],
    ['a problem', () => json({ title: ECHO, detail: ECHO }, 422)],
    ['an error page', () => new Response(ECHO, { status: 500, headers: { 'content-type': 'text/html' } })],
    [
      'a redirect',
      () => new Response(null, { status: 302, headers: { location: `/?q=${encodeURI(ECHO)}` } }),
    ],
    ['an error of the network', () => Promise.reject(new Error(ECHO))],
  ])('are masked in %s of an HTTP API', async (_, respond) => {
    const { call } = await anOpenApiCaller({
      responses: [respond],
      secrets: [HEADER, VARIABLE, TOKEN],
      operation: { method: 'POST' },
    });
    expectNoSecret(await call());
  });
});
