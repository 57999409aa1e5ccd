import { describe, expect, it, vi } from 'vitest';
import { anEngine, aPrincipal, aRequest, aServerTool, manualTool } from '../../test/support/an-engine.ts';
import { settled } from '../../test/support/fake-clock.ts';
import { failure, foreignText, StorageFull } from './failures.ts';
import { NO_WORKSPACES, type RunScope } from './workspaces.ts';

const agent = aPrincipal();
const asked = aRequest({ toolName: 'toy.shell' });

describe('the sandbox on the one path', () => {
  it('keeps with the call and its first ledger row what encloses the tool', async () => {
    const { engine, store } = await anEngine({
      tools: [aServerTool({ name: 'toy.shell', sandbox: 'bubblewrap' }), aServerTool({ name: 'toy.plain' })],
    });
    const submitted = await engine.submit(asked, agent);
    const plain = await engine.submit(aRequest({ toolName: 'toy.plain' }), agent);
    if (submitted.kind !== 'accepted' || plain.kind !== 'accepted') throw new Error('refused');
    expect(submitted.call.sandbox).toBe('bubblewrap');
    expect(plain.call.sandbox).toBeNull();
    const [first] = await store.readLedger({ callId: submitted.call.id }, 0, 1);
    expect(JSON.parse(first!.row.body)).toMatchObject({ sandbox: 'bubblewrap' });
  });

  it('refuses a tool that cannot run here before an approval is requested', async () => {
    const unavailable = failure('sandbox_unavailable', foreignText('no sandbox here'));
    const tool = aServerTool({ name: 'toy.shell', annotations: { destructive: true }, unavailable });
    const { engine, store } = await anEngine({ tools: [tool] });
    expect(await engine.submit(asked, agent)).toEqual({ kind: 'refused', failure: unavailable });
    const rows = await store.readLedger({}, 0, 10);
    expect(rows.map(({ row }) => [row.kind, JSON.parse(row.body).code])).toEqual([
      ['call.refused', 'sandbox_unavailable'],
    ]);
  });

  it('does not run after a restart without the sandbox it was made for', async () => {
    const execute = vi.fn();
    const tool = aServerTool({
      name: 'toy.shell',
      annotations: { destructive: true },
      sandbox: 'bubblewrap',
      execute,
    });
    const { store, engine: before } = await anEngine({ tools: [tool] });
    const submitted = await before.submit(asked, agent);
    if (submitted.kind !== 'accepted') throw new Error('refused');
    const { id, approval } = submitted.call;
    const { engine } = await anEngine({ store, tools: [{ ...tool, sandbox: 'none' }] });
    const operator = aPrincipal({ id: 'anna', agentId: 'anna' });
    await engine.calls.decide(operator, id, { decision: 'allow', digest: approval!.digest, note: null });
    await settled();
    expect((await engine.calls.find(agent, id))?.state).toMatchObject({
      name: 'FAILED',
      error: { code: 'sandbox_unavailable', outcome: 'not_started' },
    });
    expect(execute).not.toHaveBeenCalled();
  });

  it('hands each call the workspace of its run, and ends what a cancelled run left', async () => {
    const of = vi.fn((scope: RunScope) => NO_WORKSPACES.of(scope));
    const endRun = vi.fn((scope: RunScope) => NO_WORKSPACES.endRun(scope));
    const tool = aServerTool({
      name: 'toy.shell',
      execute: (_args, context) => Promise.resolve(context.sandbox.root),
    });
    const { engine } = await anEngine({ tools: [tool], workspaces: { ...NO_WORKSPACES, of, endRun } });
    const submitted = await engine.submit(asked, agent);
    if (submitted.kind !== 'accepted') throw new Error('refused');
    await settled();
    expect((await engine.calls.find(agent, submitted.call.id))?.state).toMatchObject({
      name: 'FAILED',
      error: { code: 'sandbox_unavailable' },
    });
    expect(of).toHaveBeenCalledWith(expect.objectContaining({ tenant: agent.tenant, runId: asked.runId }));
    await engine.runs.cancel(agent, asked.runId);
    expect(endRun).toHaveBeenCalledWith({ tenant: agent.tenant, runId: asked.runId });
  });

  it('ends what a cancelled run left although the end of one of its calls is not written', async () => {
    const endRun = vi.fn((scope: RunScope) => NO_WORKSPACES.endRun(scope));
    const { tool } = manualTool('toy.shell');
    const { engine, store } = await anEngine({ tools: [tool], workspaces: { ...NO_WORKSPACES, endRun } });
    await engine.submit(asked, agent);
    const replace = vi.spyOn(store, 'replaceCall').mockRejectedValueOnce(new StorageFull());
    await expect(engine.runs.cancel(agent, asked.runId)).rejects.toThrow(StorageFull);
    expect(endRun).toHaveBeenCalledWith({ tenant: agent.tenant, runId: asked.runId });
    replace.mockRestore();
    expect(await engine.runs.cancel(agent, asked.runId)).toMatchObject({
      ok: true,
      value: { cancelled: [expect.any(String)] },
    });
  });
});
