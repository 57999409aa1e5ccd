import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LONG, Workplace } from '../cli/cli-process.ts';
import { closedAfterEach } from '../support/after-each.ts';
import { aPlatform, type TestPlatform } from './support/a-platform.ts';
import { codeIn } from './support/ask.ts';

const closeLater = closedAfterEach();
/** Without a prefix, and nothing that could stand anywhere by chance. */
const FIRST = `planted-first-${'s3cr3t'.repeat(5)}`;
const SECOND = `planted-second-${'s3cr3t'.repeat(5)}`;

async function aServer(PATCHBOARD_OPERATOR_TOKEN: string, host?: string): Promise<TestPlatform> {
  const environment = { PATCHBOARD_OPERATOR_TOKEN };
  const server = await aPlatform({ environment, ...(host === undefined ? {} : { host }) });
  closeLater(() => server.close());
  return server;
}

describe('an operator token of the environment', () => {
  it('is accepted without a prefix, both of two, as bearer token, at the login and at the MCP endpoint', async () => {
    const server = await aServer(`${FIRST},${SECOND}`);
    for (const token of [FIRST, SECOND]) {
      const headers = { authorization: `Bearer ${token}` };
      expect((await server.ask({ method: 'GET', path: '/v1/keys', headers })).status).toBe(200);
      const login = await server.ask({ method: 'POST', path: '/v1/session', body: { token } });
      expect(login.status).toBe(200);
      const ping = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
      const mcp = await server.ask({
        method: 'POST',
        path: '/mcp',
        headers: { ...headers, accept: 'application/json, text/event-stream' },
        body: ping,
      });
      expect(mcp.status).not.toBe(401);
    }
    expect(existsSync(join(server.folder.path, 'operator.token'))).toBe(false);
  });

  it('replaces the token of the data folder, whose file stays', async () => {
    const before = await aPlatform();
    closeLater(() => before.folder.remove());
    await before.platform.close();
    const environment = { PATCHBOARD_OPERATOR_TOKEN: FIRST };
    const server = await aPlatform({ environment, folder: before.folder });
    closeLater(() => server.platform.close());
    const status = async (token: string): Promise<number> => {
      const headers = { authorization: `Bearer ${token}` };
      return (await server.ask({ method: 'GET', path: '/v1/keys', headers })).status;
    };
    expect([await status(FIRST), await status(before.operatorToken)]).toEqual([200, 401]);
    expect(before.folder.filesWith(before.operatorToken)).toHaveLength(1);
  });

  it.each([
    ['without the prefix', `${FIRST}x`],
    ['with the prefix', `op_${'w'.repeat(43)}`],
  ])('is not guessed %s: guesses are throttled and recorded, and the right one gets in', async (_, wrong) => {
    const server = await aServer(FIRST);
    const ask = async (token: string): Promise<string> => {
      const headers = { authorization: `Bearer ${token}` };
      const response = await server.ask({ method: 'GET', path: '/v1/keys', headers });
      return `${response.status} ${codeIn(response)}`;
    };
    expect(await ask(wrong)).toBe('401 auth_required');
    expect(server.log()).toContain('operator_token.refused');
    expect(server.log()).not.toContain(wrong);
    const next = new Set<string>();
    for (let guess = 0; guess < 30; guess += 1) next.add(await ask(wrong));
    expect(next).toContain('429 rate_limited');
    expect(await ask(FIRST)).toBe('200 null');
  });

  it('leaves credentials that are too short for it, and JWTs, to their own checks', async () => {
    const environment = { PATCHBOARD_OPERATOR_TOKEN: FIRST, JWT_SECRET: 'j'.repeat(40) };
    const config = { auth: { jwt: { issuer: 'i', audience: 'a', secret_env: 'JWT_SECRET' } } };
    const server = await aPlatform({ environment, config });
    closeLater(() => server.close());
    for (const token of ['sk-short', `${'h'.repeat(20)}.${'p'.repeat(20)}.${'s'.repeat(20)}`]) {
      const headers = { authorization: `Bearer ${token}` };
      expect((await server.ask({ method: 'GET', path: '/v1/keys', headers })).status).toBe(401);
    }
    expect(server.log()).not.toContain('operator_token.refused');
  });

  it('is a credential, so that a server may listen beyond loopback', async () => {
    await expect(aPlatform({ host: '0.0.0.0' })).rejects.toThrow('set PATCHBOARD_OPERATOR_TOKEN, or');
    const server = await aServer(FIRST, '0.0.0.0');
    const response = await server.ask({ method: 'GET', path: '/v1/tools' });
    expect(`${response.status} ${codeIn(response)}`).toBe('401 auth_required');
  });
});

describe('the commands', { timeout: LONG }, () => {
  let place: Workplace;
  beforeEach(async () => {
    place = await Workplace.create();
  });
  afterEach(() => place.remove());

  it('use it, and show it in no output, log, error or file', async () => {
    place.environment['PATCHBOARD_OPERATOR_TOKEN'] = `${FIRST},${SECOND}`;
    place.environment['PATCHBOARD_LOG'] = 'debug';
    const server = place.start(['serve', '--port', '0']);
    const said = await server.says(/ready at \S+.*\n/);
    place.environment['PATCHBOARD_URL'] = /ready at (\S+)/.exec(said)?.[1] ?? '';
    const doctor = await place.run(['doctor']);
    expect(doctor.out).toContain('PATCHBOARD_OPERATOR_TOKEN holds two tokens, both are accepted');
    const keys = await place.run(['keys', 'create', '--kind', 'agent', '--name', 'ann']);
    expect([keys.code, keys.out.startsWith('pb_')]).toEqual([0, true]);
    const wrong = await place.run(['keys', 'ls'], { PATCHBOARD_OPERATOR_TOKEN: `${FIRST}-wrong` });
    expect([wrong.code, wrong.error]).toEqual([
      3,
      expect.stringContaining('PATCHBOARD_OPERATOR_TOKEN was used'),
    ]);
    const short = await place.run(['serve', '--port', '0'], {
      PATCHBOARD_OPERATOR_TOKEN: FIRST.slice(0, 31),
    });
    expect([short.code, short.out]).toEqual([2, '']);
    expect(short.error).toMatch(
      /^patchboard: PATCHBOARD_OPERATOR_TOKEN must hold a token of at least 32 characters[^\n]+\n$/,
    );
    const bridge = await place.run(['mcp'], { PATCHBOARD_KEY: SECOND });
    expect([bridge.code, bridge.error]).toEqual([2, expect.stringContaining('is the operator token')]);
    const ended = await server.stop();
    const texts = [doctor, keys, wrong, short, bridge, ended].flatMap(({ out, error }) => [out, error]);
    const names = await readdir(place.data, { recursive: true, withFileTypes: true });
    const files = names
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => join(parentPath, name));
    expect(files.length).toBeGreaterThan(1);
    texts.push(...(await Promise.all(files.map((file) => readFile(file, 'latin1')))));
    for (const text of texts) expect(text).not.toMatch(/planted-(first|second)/);
  });
});
