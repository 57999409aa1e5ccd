import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCli, type Ended } from '../support/run-cli.ts';
import { LONG, Workplace } from './cli-process.ts';

let place: Workplace;
let stop: () => Promise<void>;
let url: string;

/** Without `PATCHBOARD_URL`: the server is found by other means. */
function run(argv: readonly string[], more: Record<string, string> = {}): Promise<Ended> {
  return runCli(argv, { XDG_CONFIG_HOME: place.folder, PATCHBOARD_DATA: place.folder, ...more });
}

beforeAll(async () => {
  place = await Workplace.create();
  stop = await place.serve();
  url = place.environment['PATCHBOARD_URL'] ?? '';
}, LONG);

afterAll(async () => {
  await stop();
  await place.remove();
});

describe('commands without a named server', { timeout: LONG }, () => {
  it('use the one that runs on the data folder, all of them', async () => {
    const folder = { PATCHBOARD_DATA: place.data };
    for (const command of ['tools ls', 'calls ls', 'runs ls', 'keys ls', 'mcp list', 'nodes', 'doctor'])
      expect([command, (await run(command.split(' '), { ...folder, PORT: '9' })).code]).toEqual([command, 0]);
    expect((await run(['tools', 'ls'], { PORT: '9' })).code).toBe(6);
  });
});

describe('profiles', { timeout: LONG }, () => {
  it('name a server with its credentials', async () => {
    const token = `cat '${join(place.data, 'operator.token')}'`;
    const add = ['profile', 'add', 'here', '--url', url, '--operator-token-command', token];
    expect((await run(add)).code).toBe(0);
    expect((await run(add)).error).toContain('add --force');
    expect((await run(['profile', 'add', 'away', '--url', 'http://127.0.0.1:9'])).code).toBe(0);

    expect((await run(['login', '--profile', 'here'])).out).toContain(`${url}/#login=`);
    expect((await run(['tools', 'ls', '--profile', 'away'])).code).toBe(6);
    // The operator token of the environment is for another server.
    const other = { PATCHBOARD_OPERATOR_TOKEN: 'x'.repeat(32), PATCHBOARD_URL: 'http://127.0.0.1:9' };
    expect((await run(['login', '--profile', 'here'], other)).code).toBe(0);

    expect((await run(['profile', 'use', 'here'])).out).toBe('here is in use\n');
    expect((await run(['tools', 'ls'])).out).toContain('calculation.eval');
    const { out } = await run(['profile', 'ls']);
    expect(out).toMatch(/^here \* +\S+ +operator token: printed by: cat /m);
    expect(out).toMatch(/^away +http:\/\/127\.0\.0\.1:9 +none$/m);
    expect((await run(['profile', 'show', '--select', '.url'])).out).toBe(`${url}\n`);
    expect((await run(['tools', 'ls'], { PATCHBOARD_PROFILE: 'away' })).code).toBe(6);
    // A profile never leads to the store of a folder that happens to be here.
    const keys = await run(['keys', 'ls', '--profile', 'away'], { PATCHBOARD_DATA: place.data });
    expect(keys.code).toBe(6);

    await run(['profile', 'remove', 'here']);
    expect((await run(['profile', 'show'])).code).toBe(2);
  });

  it('whose credential cannot be read are a failed check of doctor, beside the server that runs', async () => {
    await run(['profile', 'add', 'broken', '--url', url, '--operator-token-command', 'exit 3']);
    const { code, out } = await run(['doctor', '--profile', 'broken']);
    expect(code).toBe(1);
    expect(out).toMatch(/^ok +server +\S+ \(profile broken\) is running/m);
    expect(out).toMatch(/^FAIL +credential +the operator token of profile broken .* failed with 3/m);
  });
});

describe('doctor', { timeout: LONG }, () => {
  it('fails if another program responds at the address', async () => {
    const other = createServer((_request, response) => response.end('<html>'));
    await once(other.listen(0, '127.0.0.1'), 'listening');
    const { port } = other.address() as AddressInfo;
    const { code, out } = await run(['doctor', '--url', `http://127.0.0.1:${port}`]);
    other.close();
    expect(code).toBe(1);
    expect(out).toMatch(/^FAIL +server +\S+ responds with HTTP 200, not as a Patchboard server$/m);
  });
});
