import { describe, expect, it } from 'vitest';
import { processContext } from '../context.ts';
import { createProgram, runProgram } from '../program.ts';
import { approveCommand, denyCommand } from './decide.ts';
import { grantsCommand } from './grants.ts';
import { inboxCommand } from './inbox.ts';
import { keysCommand } from './keys.ts';
import { ledgerCommand } from './ledger.ts';
import { loginCommand } from './login.ts';
import { nodesCommand } from './nodes.ts';
import { policyCommand } from './policy.ts';
import { toolsCommand } from './tools.ts';

/** The URL is not reachable: the commands must report these errors before they send a request. */
async function run(argv: readonly string[]): Promise<{ code: number | null; out: string; error: string }> {
  const seen = { out: '', error: '' };
  const streams = {
    out: (text: string) => void (seen.out += text),
    error: (text: string) => void (seen.error += text),
  };
  const context = processContext({ PATCHBOARD_URL: 'http://127.0.0.1:9', PATCHBOARD_DATA: '/nowhere' });
  const registrars = [
    approveCommand(context),
    denyCommand(context),
    inboxCommand(context),
    loginCommand(context),
    grantsCommand(context),
    keysCommand(context),
    nodesCommand(context),
    policyCommand(context),
    ledgerCommand(context),
    toolsCommand(context),
  ];
  const code = await runProgram(createProgram(registrars, '1.2.3', streams), argv, streams);
  return { code, ...seen };
}

describe('every operator command', () => {
  it.each([
    'keys create',
    'keys ls',
    'keys revoke',
    'approve',
    'deny',
    'inbox',
    'login',
    'grants ls',
    'grants revoke',
    'nodes',
    'policy check',
    'policy explain',
    'ledger ls',
    'ledger verify',
    'ledger export',
  ])('%s has an example in its help and accepts --json', async (command) => {
    const { code, out } = await run([...command.split(' '), '--help']);
    expect(code).toBe(0);
    expect(out).toContain('--json');
    expect(out).toMatch(new RegExp(`Examples?:\\n(.*\\n)*.*patchboard ${command}`));
  });
});

describe('an invalid command line', () => {
  const key = ['keys', 'create', '--kind', 'agent'];

  it.each([
    [key, '--name'],
    [['keys', 'create', '--kind', 'local', '--name', 'b'], 'local'],
    [['tools', 'ls', '--source', 'banana'], 'Allowed choices are server, client, mcp, openapi'],
    [[...key, '--name', 'b c'], '--name must be'],
    [[...key, '--name', 'b', '--scope', 'all'], 'tools:call'],
    [[...key, '--name', 'b', '--expires', '2020-01-01'], 'in the past'],
    [[...key, '--name', 'b', '--expires', 'soon'], 'neither'],
    [[...key, '--name', 'b', '--expires', '600w'], 'at most ten years'],
    [[...key, '--name', 'b', '--expires', '999999999w'], 'at most ten years'],
    [['keys', 'revoke'], 'id'],
    [['approve', '--for', '1h'], '--always'],
    [['approve', '--always', 'everything'], 'exact, tool'],
    [['approve', '--always', 'tool', '--for', '400d'], 'at most 365d'],
    [['approve', '--args', '{'], 'not JSON'],
    [['deny', '--args', '{}'], 'unknown option'],
    [['ledger', 'ls', '--limit', '0'], '--limit'],
    [['ledger', 'ls', '--after', 'x'], '--after'],
    [['ledger', 'verify', '--data', '/nowhere'], 'contains no store'],
    [['policy', 'explain', 'demo.echo'], '--agent'],
    [['policy', 'check', '/nowhere/policy.yaml'], 'cannot read'],
    [['inbox', '--url', 'localhost:8080'], 'not an http(s) URL'],
  ])('%j is a usage error', async (argv, words) => {
    const { code, out, error } = await run(argv);
    expect(code).toBe(2);
    expect(out).toBe('');
    expect(error).toContain(words);
  });
});
