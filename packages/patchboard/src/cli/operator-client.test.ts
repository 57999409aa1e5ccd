import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PatchboardError } from '@patchboard/client';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { processContext, type CliContext } from './context.ts';
import { asOperator, operatorCredential } from './operator-client.ts';

let folder = '';

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'patchboard-'));
  await writeFile(join(folder, 'operator.token'), 'op_secret\n');
});

afterEach(() => rm(folder, { recursive: true }));

function contextWith(environment: Record<string, string>): CliContext {
  return processContext({ PATCHBOARD_DATA: folder, XDG_CONFIG_HOME: folder, ...environment });
}

describe('the credential of an operator command', () => {
  it.each(['http://127.0.0.1:1', 'http://localhost:8080', 'http://[::1]:8080'])(
    'is the token of the data folder for %s',
    async (url) => {
      expect(await operatorCredential(contextWith({}), { url })).toEqual({
        url,
        key: 'op_secret',
        source: 'operator token',
        profile: null,
        tenant: null,
      });
    },
  );

  it.each([
    'https://board.example',
    'http://10.0.0.7:8080',
    'http://127.0.0.1.evil.example',
    'http://localhost.evil',
  ])('is never the token for %s', async (url) => {
    expect(await operatorCredential(contextWith({}), { url })).toMatchObject({ key: null, source: 'none' });
  });

  it('is PATCHBOARD_KEY with precedence, and an empty variable counts as not set', async () => {
    const url = 'https://board.example';
    expect(await operatorCredential(contextWith({ PATCHBOARD_KEY: 'pb_x' }), { url })).toMatchObject({
      key: 'pb_x',
      source: 'PATCHBOARD_KEY',
    });
    const local = await operatorCredential(contextWith({ PATCHBOARD_KEY: '' }), {});
    expect(local).toMatchObject({ url: 'http://127.0.0.1:8080', key: 'op_secret' });
  });
});

describe('PATCHBOARD_OPERATOR_TOKEN', () => {
  const [first, second] = ['f'.repeat(32), 's'.repeat(32)];

  it('is the credential of an operator command, the first of two, for a server anywhere', async () => {
    const context = contextWith({ PATCHBOARD_OPERATOR_TOKEN: `${first}, ${second}` });
    for (const url of ['http://127.0.0.1:1', 'https://board.example'])
      expect(await operatorCredential(context, { url })).toEqual({
        url,
        key: first,
        source: 'PATCHBOARD_OPERATOR_TOKEN',
        profile: null,
        tenant: null,
      });
  });

  it('gives way to PATCHBOARD_KEY, and does not count if it is empty', async () => {
    const both = contextWith({ PATCHBOARD_OPERATOR_TOKEN: first, PATCHBOARD_KEY: 'pb_x' });
    expect(await operatorCredential(both, {})).toMatchObject({ key: 'pb_x', source: 'PATCHBOARD_KEY' });
    const empty = contextWith({ PATCHBOARD_OPERATOR_TOKEN: '' });
    expect(await operatorCredential(empty, {})).toMatchObject({ key: 'op_secret' });
  });
});

describe('a refusal', () => {
  it.each([
    [{ PATCHBOARD_KEY: 'pb_x' }, {}, 'the key of an operator'],
    [{ PATCHBOARD_OPERATOR_TOKEN: 'x' }, {}, 'set it to the token that the server at http://127.0.0.1:8080'],
    [{}, {}, 'set PATCHBOARD_DATA to the data folder of the server at'],
    [{ PATCHBOARD_DATA: '/nowhere' }, {}, '/nowhere contains no operator token'],
    [{}, { url: 'http://board.example' }, "set PATCHBOARD_KEY to an operator's key of that server"],
  ])('with %j and %j names the variable to set', async (environment, options, advice) => {
    const refused = new PatchboardError('problem', 'permission denied', {
      code: 'permission_denied',
      status: 403,
      recommendations: ['send Authorization: Bearer <key>'],
    });
    const work = asOperator(contextWith(environment), options, () => Promise.reject(refused));
    await expect(work).rejects.toMatchObject({
      code: 'permission_denied',
      status: 403,
      recommendations: [expect.stringContaining(advice)],
    });
  });

  it('of another kind is not changed', async () => {
    const gone = new PatchboardError('problem', 'no such call', { code: 'call_not_found', status: 404 });
    await expect(asOperator(contextWith({}), {}, () => Promise.reject(gone))).rejects.toBe(gone);
  });
});
