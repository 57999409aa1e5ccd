import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { ScriptedServer, sendResult, type Respond } from '../mcp-connection/support/scripted-server.ts';
import { waitFor } from '../support/wait-for.ts';
import { ServedUpstreams } from './support/served-upstreams.ts';

it('an upstream that is killed in mid-call: the outcome is unknown, it ran once, and the next call runs', async () => {
  const served = await ServedUpstreams.start();
  const { operator, agent } = served;
  const { tool_call_id: id } = await agent.invoke('troublesome.hang');
  const [pid = 0] = await waitFor(() => {
    const pids = served.executions('hang');
    expect(pids).toHaveLength(1);
    return pids;
  });
  process.kill(pid, 'SIGKILL');
  expect(await agent.wait(id)).toMatchObject({
    state: 'FAILED',
    error: { code: 'provider_disconnected', outcome: 'unknown' },
  });
  await operator.restartUpstream('troublesome');
  expect(await agent.call('troublesome.echo')).toMatchObject({ state: 'COMPLETED' });
  expect(served.executions('hang')).toHaveLength(1);
  expect(served.executions('echo')).not.toContain(pid);
});

it('a contract that changes while a call waits for approval: the call does not run until it is accepted', async () => {
  const served = await ServedUpstreams.start();
  const { operator, agent } = served;
  const asked = async (): Promise<{ id: string; digest: string }> => {
    const { tool_call_id: id } = await agent.invoke('troublesome.remove');
    for await (const { tool_call_id: waiting, digest } of operator.approvals())
      if (waiting === id) return { id, digest };
    throw new Error(`${id} does not wait for approval`);
  };
  const before = await asked();
  served.describe('Does something else.');
  await operator.restartUpstream('troublesome');
  const difference = { path: '/description', before: 'Does something. ', after: 'Does something else. ' };
  await waitFor(async () =>
    expect((await served.upstream('troublesome')).tools).toContainEqual(
      expect.objectContaining({
        name: 'troublesome.remove',
        change: expect.objectContaining({ differences: [difference] }) as unknown,
      }),
    ),
  );
  await operator.decide(before.id, { decision: 'allow', digest: before.digest });
  expect(await agent.wait(before.id)).toMatchObject({
    state: 'DENIED',
    error: { code: 'approval_denied', message: expect.stringContaining('changed') as string },
  });
  expect(served.executions('remove')).toEqual([]);

  const { tools } = await served.upstream('troublesome');
  const versions = Object.fromEntries(tools.map(({ name, version }) => [name, version]));
  await operator.acceptContracts('troublesome', versions);
  const after = await asked();
  await operator.decide(after.id, { decision: 'allow', digest: after.digest });
  expect(await agent.wait(after.id)).toMatchObject({ state: 'COMPLETED' });
  expect(served.executions('remove')).toHaveLength(1);
});

const GIB = 1024 * 1024 * 1024;
/** Far above what the server needs, far below the response. */
const MEMORY = 200 * 1024 * 1024;

it('a response of 1 GiB fails the call, is not held in memory, and the connection stays usable', async () => {
  let sent = 0;
  const endless: Respond = (response, { id }) => {
    const chunk = Buffer.alloc(1024 * 1024, 'x');
    response.writeHead(200, { 'content-type': 'application/json' });
    response.write(
      `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{"content":[{"type":"text","text":"`,
    );
    const more = (): void => {
      while (sent < GIB && !response.destroyed) {
        sent += chunk.length;
        if (!response.write(chunk)) return void response.once('drain', more);
      }
      response.end('"}]}}');
    };
    more();
  };
  const echo: Respond = (response, { id }) =>
    sendResult(response, id, { content: [{ type: 'text', text: 'said' }] });
  const web = await new ScriptedServer({ endless, echo }).listen();
  const { agent, server } = await ServedUpstreams.start({ web: { url: web.url } });

  const before = peakMemory(server.pid);
  for (const upstream of ['troublesome', 'web']) {
    expect(await agent.call(`${upstream}.endless`, {}, { throwOnFailure: false })).toMatchObject({
      state: 'FAILED',
      error: { outcome: 'unknown', message: expect.stringContaining('too large') as string },
    });
    expect(await agent.call(`${upstream}.echo`)).toMatchObject({ state: 'COMPLETED' });
  }
  expect(peakMemory(server.pid) - before).toBeLessThan(MEMORY);
  // The rest of the body is not requested.
  expect(sent).toBeLessThan(GIB / 4);
});

/** The most memory that the process ever had, in bytes. */
function peakMemory(pid: number): number {
  const [, kibibytes] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kibibytes) * 1024;
}
