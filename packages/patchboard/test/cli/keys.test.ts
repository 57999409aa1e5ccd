import { existsSync } from 'node:fs';
import type { KeyView, MintedKeyView } from '@patchboard/wire';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runCli } from '../support/run-cli.ts';
import { LONG, NOWHERE, Workplace } from './cli-process.ts';

let place: Workplace;

beforeEach(async () => {
  place = await Workplace.create();
});

afterEach(() => place.remove());

const SECRET = /^pb_\S+\n$/;

describe('keys without a server', { timeout: LONG }, () => {
  it('are made, listed and revoked in the data folder', async () => {
    const made = await place.run(['keys', 'create', '--kind', 'agent', '--name', 'bob', '--expires', '30d']);
    expect(made).toMatchObject({ code: 0, out: expect.stringMatching(SECRET) as string });
    expect(made.error).toContain(`using the data folder ${place.data} directly`);
    expect(made.error).toContain('local mode has ended');

    const second = await place.json<MintedKeyView>(
      'keys create --kind operator --name ann --scope approvals:decide --scope calls:read'.split(' '),
    );
    expect(second).toMatchObject({
      kind: 'operator',
      scopes: ['approvals:decide', 'calls:read'],
      expires_at: null,
    });

    const { keys } = await place.json<{ keys: KeyView[] }>(['keys', 'ls']);
    expect(keys.map(({ name }) => name)).toEqual(['bob', 'ann']);
    expect(keys[0]).not.toHaveProperty('key');
    expect(made.out.startsWith(keys[0]!.hint)).toBe(true);

    const gone = await place.run(['keys', 'revoke', second.key_id]);
    expect(gone).toMatchObject({ code: 0, out: `${second.key_id} revoked (operator ann)\n` });
    expect(gone.error).not.toContain('local mode');
    expect((await place.run(['keys', 'revoke', second.key_id])).code).toBe(5);
    expect((await place.run(['keys', 'revoke', keys[0]!.key_id])).error).toContain('Local mode stays off');
    const none = await place.run(['keys', 'ls']);
    expect(none).toMatchObject({ code: 0, out: '' });
    expect(none.error).toContain('no keys');
  });

  it('are listed with the column of the filter, also on a narrow terminal', async () => {
    const list = async (...argv: string[]): Promise<string> =>
      (await runCli(['keys', 'ls', ...argv], place.environment, undefined, 100)).out;
    await place.json(['keys', 'create', '--kind', 'agent', '--name', 'bob', '--scope', 'tools:call']);
    expect(await list()).toMatch(/^ID +KIND +NAME +EXPIRES/);
    expect(await list('--since', '1h')).toMatch(/^ID +KIND +NAME +CREATED/);
  });

  it('are not looked for where there is no data folder, nor made for a server elsewhere', async () => {
    expect(await place.run(['keys', 'ls'])).toMatchObject({ code: 6, out: '' });
    const elsewhere = { PATCHBOARD_URL: 'http://0.0.0.0:9' };
    expect((await place.run(['keys', 'create', '--kind', 'agent', '--name', 'b'], elsewhere)).code).toBe(6);
    expect(existsSync(place.data)).toBe(false);
  });
});

describe('keys with a server', { timeout: LONG }, () => {
  it('in a terminal asks before the first key, and says what it ends; later keys need no question', async () => {
    const stop = await place.serve();
    const create = ['keys', 'create', '--kind', 'agent', '--name', 'bob'];
    const no = await place.terminal([['Create the key\\? \\[y/N\\] ', '\n']], create);
    expect(no).toMatchObject({ code: 2, failed: null });
    expect(no.transcript).toContain('requests without a credential are refused from now on');
    expect(no.transcript).toContain('patchboard login');
    expect(no.transcript).not.toContain('pb_');
    expect((await place.run(['tools', 'ls'])).code).toBe(0);
    const yes = await place.terminal([['Create the key\\?', 'y\n']], create);
    expect(yes.code).toBe(0);
    expect(yes.transcript).toMatch(/pb_\S{49}/);
    const later = await place.terminal([], create);
    expect(later.code).toBe(0);
    expect(later.transcript).not.toContain('Create the key?');
    await stop();
  });

  it('end local mode; a request without one gets an error that says what to set', async () => {
    const stop = await place.serve();
    expect((await place.run(['tools', 'ls'])).code).toBe(0);
    expect(JSON.stringify(await place.json(['doctor']))).toContain('on: requests from this machine');

    const made = await place.run(['keys', 'create', '--kind', 'agent', '--name', 'bob']);
    expect(made).toMatchObject({ code: 0, out: expect.stringMatching(SECRET) as string });
    expect(made.error).not.toContain('data folder');
    expect(made.error).toContain('local mode has ended');
    const agent = { PATCHBOARD_KEY: made.out.trim() };

    for (const args of [['tools'], ['calls'], ['call', 'calculation.eval', 'expression:="1"']]) {
      const refused = await place.run(args);
      expect(refused).toMatchObject({ code: 3, out: '' });
      expect(refused.error).toContain('→ set PATCHBOARD_KEY to a key of this server');
    }
    expect(await place.run(['call', 'calculation.eval', 'expression=6*7'], agent)).toMatchObject({
      code: 0,
      out: '42\n',
    });

    const doctor = await place.json<{ findings: { check: string; ok: boolean; detail: string }[] }>([
      'doctor',
    ]);
    const finding = (check: string) => doctor.findings.find((one) => one.check === check);
    expect(finding('local mode')).toMatchObject({
      ok: true,
      detail: expect.stringContaining('off') as string,
    });
    expect(finding('token')).toMatchObject({
      ok: true,
      detail: expect.stringContaining('mode 0600') as string,
    });

    const second = await place.run(['keys', 'create', '--kind', 'client', '--name', 'phone']);
    expect(second.error).not.toContain('local mode');
    const refused = await place.run(['keys', 'ls'], agent);
    expect(refused.code).toBe(3);
    expect(refused.error).toContain('PATCHBOARD_KEY was used');

    const { keys } = await place.json<{ keys: KeyView[] }>(['keys']);
    expect(keys.map((key) => key.name)).toEqual(['bob', 'phone']);
    expect((await place.run(['keys', 'revoke', keys[0]!.key_id])).code).toBe(0);
    expect((await place.run(['tools'], agent)).code).toBe(3);
    expect((await place.run(['keys', 'revoke', 'key_none'])).code).toBe(5);
    expect((await place.run(['keys', 'revoke', keys[1]!.key_id])).error).toContain('Local mode stays off');
    expect((await place.run(['tools'])).code).toBe(3);
    await stop();
  });

  it('of another tenant are made with the operator token, and neither made nor revoked by a narrower one', async () => {
    const stop = await place.serve();
    const create = ['keys', 'create', '--name', 'x', '--kind'];
    const narrow = await place.json<MintedKeyView>([
      ...create,
      ...'operator --tenant yantian --scope keys:write --scope tools:call --scope calls:read'.split(' '),
    ]);
    expect(narrow.tenant_id).toBe('yantian');
    const key = { PATCHBOARD_KEY: narrow.key };
    expect((await place.run([...create, 'agent'], key)).code).toBe(0);
    expect(await place.run([...create, 'operator'], key)).toMatchObject({ code: 3, out: '' });
    expect((await place.run([...create, 'agent', '--tenant', 'default'], key)).code).toBe(3);
    const wide = await place.json<MintedKeyView>([...create, ...'operator --tenant yantian'.split(' ')]);
    const refused = await place.run(['keys', 'revoke', wide.key_id], key);
    expect(refused).toMatchObject({ code: 3, out: '' });
    expect(refused.error).toContain('only a credential that could make this key can revoke it');
    expect((await place.run(['keys', 'revoke', narrow.key_id], key)).code).toBe(0);
    await stop();
  });

  it('cannot be created in its data folder while it runs', async () => {
    const stop = await place.serve();
    const other = await place.run(['keys', 'create', '--kind', 'agent', '--name', 'b'], {
      PATCHBOARD_URL: NOWHERE,
    });
    expect(other).toMatchObject({ code: 6, out: '' });
    expect(other.error).toContain('is in use by a running server');
    expect(other.error).toContain('--url');
    await stop();
  });

  it('made before the start are in force at the start', async () => {
    const { out } = await place.run(['keys', 'create', '--kind', 'agent', '--name', 'bob']);
    const stop = await place.serve();
    expect((await place.run(['tools'])).code).toBe(3);
    expect((await place.run(['tools'], { PATCHBOARD_KEY: out.trim() })).code).toBe(0);
    await stop();
  });
});
