import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stdioSettings } from '../mcp-connection/support/a-connection.ts';
import { waitFor } from '../support/wait-for.ts';
import { AGateway } from './support/a-gateway.ts';
import { failureOf, me, SECRET, valueOf } from './support/an-mcp-upstream.ts';

let gateway: AGateway;
const folder = mkdtempSync(join(tmpdir(), 'patchboard-'));
const journal = join(folder, 'journal');
beforeAll(async () => {
  gateway = await AGateway.start(
    stdioSettings('legacy-server.mjs', [journal], { inputRequests: true }),
    stdioSettings('modern-server.mjs', [], { name: 'sdk', protocol: 'legacy' }),
  );
});
afterAll(async () => {
  await gateway?.close();
  rmSync(folder, { recursive: true, force: true });
});

function lines(start: string): string[] {
  return readFileSync(journal, 'utf8')
    .split('\n')
    .filter((line) => line.startsWith(start));
}

describe('an upstream of an older protocol version that is a process', () => {
  it('is called, and its result contains no secret value', async () => {
    const call = await gateway.run('up.echo', { args: { text: `hello ${SECRET}` } });
    expect(valueOf(call)).toBe('hello [redacted]');
  });

  it('made with the SDK gets the key of the call', async () => {
    const call = await gateway.run('sdk.meta');
    expect(valueOf(call)).toMatchObject({ meta: { 'patchboard/idempotency_key': call.id } });
  });

  it('reports progress to an MCP client of the gateway', async () => {
    const { notifications, result } = await gateway.server.call(
      'up__progress',
      {},
      { meta: { progressToken: 7 } },
    );
    expect(notifications).toEqual([
      expect.objectContaining({ params: { progressToken: 7, progress: 1, total: 2 } }),
    ]);
    expect(result.content).toEqual([{ type: 'text', text: 'done' }]);
  });

  it('asks the caller while its call runs', async () => {
    const { id } = await gateway.submit('up.ask', { args: { question: 'Why?' } });
    const waiting = await gateway.reached(id, 'INPUT_REQUIRED');
    expect(waiting.inputs[0]).toMatchObject({ message: 'up: Why?', held: true });
    await gateway.server.engine.calls.respond(me, id, { id: 'in_1', action: 'accept', content: { why: 1 } });
    expect(JSON.parse(valueOf(await gateway.reached(id)) as string)).toEqual({
      action: 'accept',
      content: { why: 1 },
    });
  });

  it('is told that a call was cancelled', async () => {
    const { id } = await gateway.submit('up.hang');
    await waitFor(() => expect(lines('hang')).toHaveLength(1));
    await gateway.server.engine.calls.cancel(me, id);
    expect((await gateway.reached(id)).state.name).toBe('CANCELLED');
    await waitFor(() => expect(lines('cancelled')).toHaveLength(1));
  });

  it('has one call at a time that may ask: one that was not sent in time certainly did not start', async () => {
    const before = lines('call hang').length;
    const { id } = await gateway.submit('up.hang');
    await waitFor(() => expect(lines('call hang')).toHaveLength(before + 1));
    const waiting = await gateway.run('up.hang', { timeoutMs: 300 });
    expect(failureOf(waiting)).toMatchObject({ code: 'provider_offline', outcome: 'not_started' });
    expect(lines('call hang')).toHaveLength(before + 1);
    await gateway.server.engine.calls.cancel(me, id);
  });

  it('that is killed during a call leaves its outcome unknown, runs it once, and is started again', async () => {
    const before = lines('call hang').length;
    const { id } = await gateway.submit('up.hang');
    await waitFor(() => expect(lines('call hang')).toHaveLength(before + 1));
    process.kill(Number(lines('start').at(-1)?.slice('start '.length)), 'SIGKILL');
    const ended = await gateway.reached(id);
    expect(ended.state.name).toBe('FAILED');
    expect(failureOf(ended)).toMatchObject({
      code: 'provider_disconnected',
      outcome: 'unknown',
      retryable: false,
    });
    expect(valueOf(await gateway.run('up.echo', { args: { text: 'again' } }))).toBe('again');
    expect(lines('call hang')).toHaveLength(before + 1);
  });
});
