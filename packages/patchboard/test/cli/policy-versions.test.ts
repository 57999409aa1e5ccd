import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCli, type Ended } from '../support/run-cli.ts';
import { LONG, Workplace } from './cli-process.ts';

let place: Workplace;
let stop: () => Promise<void>;

function run(argv: readonly string[], replies?: readonly string[]): Promise<Ended> {
  return runCli(argv, { XDG_CONFIG_HOME: place.folder, ...place.environment }, replies);
}

beforeAll(async () => {
  place = await Workplace.create();
  stop = await place.serve('policy: {default: {mode: ask}}\n');
}, LONG);

afterAll(async () => {
  await stop();
  await place.remove();
});

describe('policy put, history and rollback', { timeout: LONG }, () => {
  it('replace the policy after showing the changes, and lose no update', async () => {
    const file = await place.write('new.yaml', 'default: {mode: auto, autoDenyTools: [mail.*]}\n');
    const refused = await run(['policy', 'put', file], ['n']);
    expect(refused).toMatchObject({ code: 2, out: '' });
    expect(refused.error).toContain('-   mode: ask\n');
    expect(refused.error).toContain('+   mode: auto\n');
    expect(refused.error).toContain('Replace version 0? [y/N] nothing changed\n');
    expect((await run(['policy', 'put', file])).error).toContain('add --yes');

    expect((await run(['policy', 'put', file], ['y'])).out).toBe('version 1 is the current policy\n');
    expect((await run(['policy', 'put', file, '--yes'])).error).toContain('version 1 has the same content');
    const late = await run(['policy', 'rollback', '0', '--if-version', '0', '--yes']);
    expect(late).toMatchObject({ code: 1, out: '' });
    expect(late.error).toContain('the current policy is version 1, not 0');

    expect((await run(['policy', 'rollback', '0', '--yes'])).out).toBe('version 2 is the current policy\n');
    const history = (await run(['policy', 'history'])).out.split('\n');
    expect(history).toEqual([
      expect.stringMatching(/^VERSION +CHANGED +BY$/),
      expect.stringMatching(/^2 \* +20\S+Z +operator$/),
      expect.stringMatching(/^1 +20\S+Z +operator$/),
      expect.stringMatching(/^0 +config file +config$/),
      '',
    ]);
    expect((await run(['policy', 'show'])).out).toBe('default:\n  mode: ask\n');
    expect((await run(['policy', 'show', '1'])).out).toContain('- mail.*');
    const client = await place.client();
    const page = await client.policy.versions({ limit: 2 }).page();
    expect(page.items.map(({ version }) => version)).toEqual([2, 1]);
    const rest = await client.policy.versions({ limit: 2 }).page(page.nextCursor);
    expect([rest.items.map(({ version }) => version), rest.nextCursor]).toEqual([[0], null]);
  });
});

describe('an unknown id', { timeout: LONG }, () => {
  it.each([
    'calls show tc_nothing',
    'calls cancel tc_nothing',
    'calls replay tc_nothing',
    'calls tail tc_nothing',
    'runs show nothing',
    'runs cancel nothing',
    'approve tc_nothing --yes',
    'deny tc_nothing',
    'input tc_nothing --decline',
    'open nothing',
    'keys revoke key_nothing',
    'grants revoke gr_nothing',
    'tenants rm nothing',
    'ledger trace nothing',
    'ledger trace nothing --json',
    'policy show 99',
    'policy rollback 99 --yes',
    'policy explain nothing --agent a',
    'profile show nothing',
    'profile use nothing',
    'profile remove nothing',
    'tools ls --profile nothing',
    'tools show nothing',
    'resources read nothing://x',
    'prompts get nothing',
    'mcp restart nothing',
    'mcp accept nothing',
    'mcp remove nothing',
    'openapi restart nothing',
    'openapi remove nothing',
  ])('%s exits with 5', async (line) => {
    const { code, out, error } = await run(line.split(' '));
    expect({ code, out }).toEqual({ code: 5, out: '' });
    expect(error).not.toBe('');
  });
});
