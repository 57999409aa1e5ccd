import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectionOf, type ServerChoice } from './connection.ts';
import { profileFileOf, readProfiles, writeProfiles, type ProfileFile } from './profiles/profile-file.ts';

let folder = '';
const PROD = 'https://prod.example/board';
const FILE: ProfileFile = {
  current: 'prod',
  profiles: {
    prod: { url: PROD, key: { env: 'PROD_KEY' }, tenant: 'acme' },
    both: { url: PROD, key: { value: 'pb_agent' }, operatorToken: { value: 'op_1' } },
  },
};

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'patchboard-'));
  await writeProfiles({ XDG_CONFIG_HOME: folder }, FILE);
});
afterAll(() => rm(folder, { recursive: true }));

async function found(environment: Record<string, string>, choice: ServerChoice = {}): Promise<unknown> {
  const own = { XDG_CONFIG_HOME: folder, PATCHBOARD_DATA: folder, PROD_KEY: 'pb_prod', ...environment };
  const { url, profile, tenant, ...rest } = await connectionOf(own, choice);
  const [key, operator] = [await rest.key(), await rest.operatorCredential()];
  return [url, profile, tenant, key?.secret ?? null, operator?.secret ?? null];
}

describe('the server of a command', () => {
  it('is that of the flags, the environment, the profile, or the default, in this order', async () => {
    const other = 'http://127.0.0.1:7';
    expect(await found({})).toEqual([PROD, 'prod', 'acme', 'pb_prod', 'pb_prod']);
    expect(await found({ PATCHBOARD_PROFILE: 'both' })).toEqual([PROD, 'both', null, 'pb_agent', 'op_1']);
    expect(await found({ PATCHBOARD_PROFILE: 'both' }, { profile: 'prod' })).toEqual(
      expect.arrayContaining([PROD, 'prod']),
    );
    expect(await found({ PATCHBOARD_URL: other })).toEqual([other, null, null, null, null]);
    expect(await found({ PATCHBOARD_URL: other }, { profile: 'both' })).toEqual(
      expect.arrayContaining([PROD, 'both']),
    );
    expect(await found({ PATCHBOARD_URL: PROD }, { url: other })).toEqual([other, null, null, null, null]);
    expect(await found({ XDG_CONFIG_HOME: join(folder, 'none'), PORT: '81' })).toEqual([
      'http://127.0.0.1:81',
      null,
      null,
      null,
      null,
    ]);
  });

  it('gets the credentials of a profile only if it is the profile’s server', async () => {
    expect(await found({ PATCHBOARD_URL: `${PROD}/` })).toEqual([
      `${PROD}/`,
      'prod',
      'acme',
      'pb_prod',
      'pb_prod',
    ]);
    expect(await found({}, { url: 'https://prod.example.evil' })).toEqual([
      'https://prod.example.evil',
      null,
      null,
      null,
      null,
    ]);
    await expect(found({}, { url: 'http://x', profile: 'prod' })).rejects.toThrow('name two servers');
  });

  it('gets the credential of the environment first, but not with --profile', async () => {
    const both = { PATCHBOARD_KEY: 'pb_env', PATCHBOARD_OPERATOR_TOKEN: 'op_env' };
    expect(await found(both)).toEqual([PROD, 'prod', 'acme', 'pb_env', 'pb_env']);
    expect(await found(both, { profile: 'both' })).toEqual([PROD, 'both', null, 'pb_agent', 'op_1']);
  });

  it('must have a profile that exists, and a secret that is there', async () => {
    await expect(found({ PATCHBOARD_PROFILE: 'x' })).rejects.toThrow('no profile "x" in');
    await expect(found({ PROD_KEY: '' })).rejects.toThrow('the variable PROD_KEY, which is not set');
  });
});

it('profiles are stored for this user only, and read back', async () => {
  expect(await readProfiles({ XDG_CONFIG_HOME: folder })).toEqual(FILE);
  expect((await stat(profileFileOf({ XDG_CONFIG_HOME: folder }))).mode & 0o777).toBe(0o600);
});
