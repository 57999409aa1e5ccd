import { describe, expect, it } from 'vitest';
import { aDataFolder, aPlatform, type TestPlatform } from './support/a-platform.ts';
import type { TestResponse } from './support/ask.ts';
import { closedAfterEach } from '../support/after-each.ts';

const closeLater = closedAfterEach();

const DOOR = { name: 'door.open', schema: { type: 'object' } };
const RISKY = { ...DOOR, annotations: { destructive: true } };
const TAKEN = { ok: true, registered_count: 1, rejected: [] };
const PATH = '/internal/clients/kiosk-1/tools/door.open';

const bodyOf = (tool: object, clientId = 'kiosk-1'): object => ({ client_id: clientId, tools: [tool] });

async function lend(server: TestPlatform, tool: object, clientId?: string): Promise<TestResponse> {
  return await server.ask({
    method: 'POST',
    path: '/internal/tools/register',
    body: bodyOf(tool, clientId),
  });
}

async function invoke(server: TestPlatform): Promise<{ id: string; state: string }> {
  const body = { run_id: 'run_1', args: {} };
  const { json } = await server.ask({ method: 'POST', path: '/v1/tools/door.open/invoke', body });
  const id = json.tool_call_id as string;
  const record = await server.asOperator('GET', `/v1/tool_calls/${id}`);
  return { id, state: record.json.state as string };
}

const stateOf = async (server: TestPlatform): Promise<string> => (await invoke(server)).state;

describe('a tool that asks first', () => {
  it('requires approval however clients register it again: without risk, after removal, as another client, after a restart', async () => {
    const folder = aDataFolder();
    closeLater(() => folder.remove());
    const first = await aPlatform({ folder });
    expect((await lend(first, RISKY)).json).toEqual(TAKEN);
    expect((await lend(first, DOOR)).json).toEqual(TAKEN);
    expect(await stateOf(first)).toBe('APPROVAL_REQUIRED');
    expect((await first.ask({ method: 'DELETE', path: PATH })).status).toBe(200);
    expect((await lend(first, DOOR, 'kiosk-2')).json).toEqual(TAKEN);
    expect(await stateOf(first)).toBe('APPROVAL_REQUIRED');
    await first.ask({ method: 'DELETE', path: '/internal/clients/kiosk-2/tools' });
    await first.close();
    const second = await aPlatform({ folder });
    closeLater(() => second.close());
    expect((await lend(second, DOOR)).json).toEqual(TAKEN);
    expect(await stateOf(second)).toBe('APPROVAL_REQUIRED');
    const { rows } = (await second.asOperator('GET', '/v1/ledger')).json as {
      rows: { kind: string; body: { kept_risk?: string[] } }[];
    };
    const kept = rows.filter(({ kind, body }) => kind === 'registry.changed' && body.kept_risk !== undefined);
    expect(kept.map(({ body }) => body.kept_risk)).toEqual(Array.from({ length: 3 }, () => ['door.open']));
  });

  it('no longer asks once an operator registered it so', async () => {
    const server = await aPlatform();
    closeLater(() => server.close());
    await lend(server, RISKY);
    const response = await server.asOperator('POST', '/internal/tools/register', bodyOf(DOOR));
    expect(response.json).toEqual(TAKEN);
    expect(await stateOf(server)).toBe('PENDING');
    await lend(server, DOOR);
    expect(await stateOf(server)).toBe('PENDING');
  });

  it('keeps its risk until an operator removes it', async () => {
    const server = await aPlatform();
    closeLater(() => server.close());
    await lend(server, RISKY);
    const path = `${PATH}?forget_risk=true`;
    expect((await server.ask({ method: 'DELETE', path })).json).toMatchObject({
      status: 403,
      code: 'permission_denied',
    });
    // An operator who takes a tool away does not say that it is harmless.
    await server.asOperator('DELETE', PATH);
    await lend(server, DOOR);
    expect(await stateOf(server)).toBe('APPROVAL_REQUIRED');
    expect((await server.asOperator('DELETE', path)).json).toEqual({ ok: true, removed: ['door.open'] });
    expect((await server.asOperator('DELETE', path)).status).toBe(404);
    await lend(server, DOOR);
    expect(await stateOf(server)).toBe('PENDING');
  });

  it('requires approval again once its contract changes, whatever was granted', async () => {
    const server = await aPlatform();
    closeLater(() => server.close());
    await lend(server, RISKY);
    const { id } = await invoke(server);
    const { json } = await server.asOperator('GET', `/v1/tool_calls/${id}`);
    const decision = { decision: 'allow', digest: json.approval.digest as string, grant: { scope: 'tool' } };
    expect((await server.asOperator('POST', `/v1/tool_calls/${id}/decision`, decision)).status).toBe(200);
    expect(await stateOf(server)).toBe('PENDING');
    // With its risk kept this is the contract that was granted.
    await lend(server, DOOR);
    expect(await stateOf(server)).toBe('PENDING');
    for (const changed of [
      { ...DOOR, description: 'Opens every door.' },
      { ...DOOR, schema: { type: 'object', properties: { all: {} } } },
      { ...DOOR, output_schema: {} },
      { ...DOOR, annotations: { idempotent: true } },
    ]) {
      await lend(server, changed);
      expect(await stateOf(server)).toBe('APPROVAL_REQUIRED');
    }
  });
});
