import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { aConsole, type TestConsole } from './support/a-console.ts';
import { AnUpstream, anUpstreamTool } from '../support/an-upstream.ts';
import { aServerTool } from '../support/an-engine.ts';
import type { ServerTool } from '../../src/core/tools/server-tool.ts';

const PAYLOAD = `<img src=x onerror="globalThis.hit=1"><script>globalThis.hit=2</script>{{constructor.constructor('globalThis.hit=3')()}}`;

const hostile: ServerTool = aServerTool({
  name: 'toy.hostile',
  description: PAYLOAD,
  annotations: { destructive: true },
  metadata: { note: PAYLOAD },
  inputSchema: {
    type: 'object',
    title: PAYLOAD,
    properties: {
      [PAYLOAD]: { type: 'string', title: PAYLOAD, description: PAYLOAD, default: PAYLOAD },
      pick: { enum: [PAYLOAD, 'b'], description: PAYLOAD },
      either: { oneOf: [{ title: PAYLOAD, type: 'string' }, { type: 'integer' }] },
    },
  },
  outputSchema: { description: PAYLOAD },
  execute: () => Promise.resolve({ said: PAYLOAD }),
});

let board: TestConsole;
beforeAll(async () => {
  const policy = {
    agents: {
      [PAYLOAD.replaceAll(/\s/g, '_')]: { autoDenyTools: [PAYLOAD] },
      boss: { rules: [{ tools: ['toy.hostile'], effect: 'ask', reason: PAYLOAD }] },
    },
  };
  board = await aConsole({ tools: [hostile], config: { policy } });
});
afterAll(async () => {
  await board?.close();
});

/** An upstream whose every text is hostile. Its contract has changed. */
function addHostileUpstream(): void {
  const upstream = new AnUpstream({ name: 'evil', tenants: [PAYLOAD, 'default'] });
  upstream.details = { protocol: PAYLOAD, server: { name: PAYLOAD, version: PAYLOAD }, address: PAYLOAD };
  board.server.platform.engine.upstreams.add(upstream);
  const tool = anUpstreamTool({ name: 'evil.tool' });
  upstream.lists([tool]);
  const rejected = { name: PAYLOAD, code: 'schema_invalid', reason: PAYLOAD, reasons: [] };
  const inputSchema = { type: 'object', properties: { [PAYLOAD]: { title: PAYLOAD } } };
  upstream.lists([{ ...tool, description: PAYLOAD, inputSchema }], [rejected]);
  upstream.becomes('failed', PAYLOAD);
}

async function invoke(agent: string, run: string): Promise<string> {
  const response = await board.server.ask({
    method: 'POST',
    path: '/v1/tools/toy.hostile/invoke',
    headers: { 'x-agent-id': agent, 'x-trace-id': '<svg/onload=globalThis.hit=4>' },
    body: { run_id: run, args: { [PAYLOAD]: PAYLOAD } },
  });
  return (response.json as { tool_call_id: string }).tool_call_id;
}

async function waitingDigest(id: string): Promise<string> {
  const { json } = await board.server.asOperator('GET', '/v1/approvals');
  const { approvals } = json as { approvals: { tool_call_id: string; digest: string }[] };
  return approvals.find((one) => one.tool_call_id === id)?.digest ?? '';
}

describe('text from outside', () => {
  it('shows markup as text, wherever it comes from', async () => {
    const agent = '<img/src=x/onerror=globalThis.hit=5>';
    const denied = await invoke(agent, '<b>run</b>');
    const note = { decision: 'deny', digest: await waitingDigest(denied), note: PAYLOAD };
    await board.server.asOperator('POST', `/v1/tool_calls/${denied}/decision`, note);
    const ran = await invoke('boss', '<i>run</i>');
    const edit = {
      decision: 'allow',
      digest: await waitingDigest(ran),
      note: PAYLOAD,
      args: { pick: 'b', [PAYLOAD]: PAYLOAD },
      grant: { scope: 'exact' },
    };
    expect((await board.server.asOperator('POST', `/v1/tool_calls/${ran}/decision`, edit)).status).toBe(200);
    const waiting = await invoke(agent, '<u>run</u>');
    const key = await board.server.asOperator('POST', '/v1/keys', {
      kind: 'operator',
      name: '<img/src=x/onerror=hit()>',
    });
    expect(key.status).toBe(201);

    addHostileUpstream();
    const { page, done } = await board.open('/ui/tester?tool=toy.hostile&pick=toy.hostile');
    const args = encodeURIComponent(JSON.stringify({ [PAYLOAD]: PAYLOAD, either: PAYLOAD }));
    const places = [
      `/ui/tester?tool=toy.hostile&pick=toy.hostile&args=${args}`,
      `/ui/tester?tool=${encodeURIComponent(PAYLOAD)}&q=${encodeURIComponent(PAYLOAD)}`,
      '/ui/calls',
      `/ui/calls?agent=${encodeURIComponent(PAYLOAD)}`,
      `/ui/calls/${denied}`,
      `/ui/calls/${ran}`,
      `/ui/calls/${encodeURIComponent(PAYLOAD)}`,
      '/ui/runs',
      `/ui/runs/${encodeURIComponent('<i>run</i>')}`,
      `/ui/traces/${encodeURIComponent('<svg/onload=globalThis.hit=4>')}`,
      `/ui/compare?a=${encodeURIComponent('<b>run</b>')}&b=${encodeURIComponent('<i>run</i>')}`,
      `/ui/compare?a=${denied}&b=${ran}`,
      `/ui/approvals?call=${waiting}`,
      '/ui/tools?tool=toy.hostile',
      '/ui/tools?tool=toy.hostile&view=versions',
      '/ui/tools?tool=toy.hostile&view=health',
      '/ui/upstreams?upstream=evil',
      '/ui/calls?query=state:refused',
      `/ui/calls?query=${encodeURIComponent(PAYLOAD)}`,
      '/ui/metrics?by=agent',
      '/ui/agents',
      '/ui/agents?view=policy',
      '/ui/agents?view=simulator&tool=toy.hostile&agent=boss',
      '/ui/ledger',
      '/ui/ledger?trace=%3Csvg%2Fonload%3DglobalThis.hit%3D4%3E',
      `/ui/${encodeURIComponent(PAYLOAD)}`,
    ];
    for (const place of places) {
      await page.goto(`${board.url}${place}`);
      await page.locator('h1').first().waitFor();
      await page.locator('[data-state="loading"]').first().waitFor({ state: 'detached' });
      const planted = await page.evaluate(() => ({
        hit: (globalThis as { hit?: unknown }).hit,
        // What the console itself draws has no such sources, handlers or elements.
        elements: document.querySelectorAll(
          'img[src="x"], [onerror], [onload], main script, main b, main i:not([class]), main u',
        ).length,
      }));
      expect({ place, ...planted }).toEqual({ place, hit: undefined, elements: 0 });
    }
    await page.goto(`${board.url}/ui/upstreams?upstream=evil`);
    await page
      .locator('[data-difference="/description"] .added', { hasText: '<img src=x onerror=' })
      .waitFor();
    await page.goto(`${board.url}/ui/calls/${ran}`);
    await page.getByText('<img src=x onerror=', { exact: false }).first().waitFor();
    await done();
  });

  it('tolerates foreign data in its local storage', async () => {
    const { page, done } = await board.open('/ui/tester');
    await page.evaluate(() => {
      const kept = ['tenants', 'runs', 'payloads', 'contracts', 'theme', 'language', 'notices'];
      for (const name of kept) localStorage.setItem(`patchboard.${name}`, '{"not": ');
    });
    await page.reload();
    await page.locator('[data-live="live"]').waitFor();
    await page.getByRole('heading', { name: 'Sandbox' }).waitFor();
    await done();
  });

  it('escapes invisible and bidirectional characters in arguments', async () => {
    const response = await board.server.ask({
      method: 'POST',
      path: '/v1/tools/toy.hostile/invoke',
      headers: (await board.server.mint({ kind: 'agent', name: 'sly' })).headers,
      body: { run_id: 'sly', args: { pick: 'b', path: 'safe\u202etxt.exe\u200b' } },
    });
    const { tool_call_id: id } = response.json as { tool_call_id: string };
    const { page, done } = await board.open(`/ui/approvals?call=${id}`);
    await page.locator('[data-approval-detail]', { hasText: 'safe\\u{202e}txt.exe\\u{200b}' }).waitFor();
    await done();
  });
});
