import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { aBoard } from '../../test/support/a-board.ts';
import { scenes } from '../../test/support/agent-scene.ts';
import {
  executeToolRequests,
  formatRequest,
  parseToolRequests,
  textDialect,
  tool,
  ToolRegistry,
} from '../index.ts';

const vault = tool({
  name: 'vault.open',
  description: 'opens the vault',
  parameters: z.strictObject({ combination: z.number(), command: z.string().optional() }),
  execute: () => 'open',
});
const DENIED = { state: 'DENIED', code: 'permission_denied' };

describe('a tool that the policy of a board denies', () => {
  const policy = { default: { autoDenyTools: ['vault.open'] } };

  it('is a DENIED record for board.call, before its arguments are checked', async () => {
    const board = await aBoard({ tools: [vault], policy });
    expect(board.tools()).toEqual([]);
    const record = await board.call('vault.open', { wrong: true });
    expect(record).toMatchObject({
      ...DENIED,
      error: 'permission denied: the pattern vault.open matches the tool',
    });
    expect(await board.get(record.id)).toMatchObject(DENIED);
    await expect(board.call('vault.opem', {})).rejects.toThrow(/^tool not found: vault\.opem$/);
  });

  it('is an error result for a text protocol, with the record of a denied call', async () => {
    const board = await aBoard({ tools: [vault], policy });
    const text = formatRequest({ toolName: 'vault.open', command: 'now', args: { wrong: 'x' } });
    const config = { enabled: true, defaultToolEnabled: true };
    const [result] = await executeToolRequests(parseToolRequests(text), { board, config });
    expect(result).toMatchObject({ toolName: 'vault.open', status: 'error', code: 'permission_denied' });
    expect(result?.result).not.toContain('combination');
    expect(await board.get(result?.callId ?? '')).toMatchObject({
      ...DENIED,
      input: { wrong: 'x', command: 'now' },
    });
  });

  it('is found by its module and command', async () => {
    const registry = new ToolRegistry();
    registry.registerModule({
      id: 'my_vault',
      name: 'Vault',
      getMetadata: () => ({
        methods: [{ name: 'open', agentCallable: true, protocolConfig: { vcpCommand: 'OpenVault' } }],
      }),
      open: () => 'open',
    });
    const board = await aBoard({ tools: registry, policy: { default: { autoDenyTools: ['my_vault_*'] } } });
    const text = formatRequest({ toolName: 'my_vault', command: 'OpenVault', args: {} });
    const config = { enabled: true, defaultToolEnabled: true };
    const [result] = await executeToolRequests(parseToolRequests(text), { board, config });
    expect(result).toMatchObject({ toolName: 'my_vault_open', code: 'permission_denied' });
  });
});

describe('an agent that requests a tool it may not call', () => {
  const { aScene } = scenes();
  const asked = [{ calls: [{ name: 'vault.open', args: { wrong: true } }] }, 'I see.'];

  it.each([
    [
      'the policy of the board',
      {},
      { default: { autoDenyTools: ['vault.*'] } },
      'the pattern vault.* matches the tool',
    ],
    [
      'its own permission',
      { permission: { autoDenyTools: ['vault.o*'] } },
      {},
      'the pattern vault.o* matches the tool',
    ],
    ['the tools it was given', { tools: ['math.*'] }, {}, 'vault.open is not switched on'],
    [
      'its toggles',
      { toolCalling: { enabled: true, protocol: 'openai' as const, toolToggles: { 'math.add': true } } },
      {},
      'vault.open is not switched on',
    ],
  ])('gets a DENIED call by %s, before its arguments are checked', async (_what, options, policy, reason) => {
    const { agent, models } = await aScene(asked, options, { tools: [vault], policy });
    const { calls } = await agent.send('Open it.');
    expect(calls).toMatchObject([{ ...DENIED, error: `permission denied: ${reason}` }]);
    expect(JSON.stringify(models.requests.map(({ body }) => body))).not.toContain('combination');
  });

  it('receives the denial over text too, also if the tool has an argument named command', async () => {
    const reply = formatRequest({ toolName: 'vault.open', command: 'now', args: {} });
    const { agent, models } = await aScene(
      [reply, 'I see.'],
      { dialect: textDialect(), permission: { autoDenyTools: ['vault.*'] } },
      { tools: [vault] },
    );
    const { calls } = await agent.send('Open it.');
    expect(calls).toMatchObject([{ ...DENIED, name: 'vault.open' }]);
    expect(JSON.stringify(models.requests.map(({ body }) => body))).not.toContain('combination');
  });
});
