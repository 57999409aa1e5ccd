import { once } from 'node:events';
import { chmod, chown, mkdir, readdir, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createClient } from '@patchboard/client';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LONG, Workplace } from '../cli/cli-process.ts';
import { expectRefusal } from '../support/expect-refusal.ts';
import { runCommand, type Finished } from '../support/run-command.ts';
import { cleanEnvironment, ROOT } from '../support/server-process.ts';

/** Root passes every permission check, so the server runs as another user. */
const isRoot = process.getuid?.() === 0;
const SOMEBODY = 65_534;

let place: Workplace;
beforeEach(async () => {
  place = await Workplace.create();
});
afterEach(() => place.remove());

/** As one who may not do everything; what is there by now is theirs. */
async function runUnprivileged(args: readonly string[]): Promise<Finished> {
  if (!isRoot) return await place.run(args);
  for (const name of ['.', ...(await readdir(place.folder, { recursive: true }))])
    await chown(join(place.folder, name), SOMEBODY, SOMEBODY);
  return await place.run(args, {}, { uid: SOMEBODY, gid: SOMEBODY });
}

/** Runs `work` while another program has the port. */
async function withTakenPort(work: (port: string) => Promise<void>): Promise<void> {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  try {
    await work(String((other.address() as AddressInfo).port));
  } finally {
    other.close();
  }
}

describe('patchboard serve that cannot start says so in one line and exits 2', { timeout: LONG }, () => {
  it('on a port that is in use', async () => {
    await withTakenPort(async (port) => {
      const words = new RegExp(`port ${port} is in use: stop the other server, or set PORT=\\d+`);
      expectRefusal(await place.run(['serve', '--port', port]), words);
    });
  });

  it('on a port that is in use, after it has resumed calls of an earlier process', async () => {
    const config = `policy: {default: {requireApprovalTools: ['calculation.*']}}\n`;
    const stop = await place.serve(config);
    const agent = createClient({ url: place.environment['PATCHBOARD_URL']! });
    const { tool_call_id: id } = await agent.invoke('calculation.eval', { expression: '6*7' });
    await stop();
    await withTakenPort(async (port) => {
      const args = ['serve', '--port', port, '--config', join(place.folder, 'config.yaml')];
      const { code, out, error } = await place.run(args);
      const [recovered = '', line = '', ...more] = error.split('\n');
      expect(recovered).toContain('"event":"engine.recovered"');
      expect(line).toMatch(new RegExp(`^patchboard: port ${port} is in use: stop the other server`));
      expect([code, out, more]).toEqual([2, '', ['']]);
    });
    const stopAgain = await place.serve(config);
    try {
      expect(await (await place.client()).get(id)).toMatchObject({ state: 'APPROVAL_REQUIRED' });
    } finally {
      await stopAgain();
    }
  });

  it('on a data folder that another server has', async () => {
    const stop = await place.serve();
    try {
      expectRefusal(await place.run(['serve', '--port', '0']), /is in use by another process; stop/);
    } finally {
      await stop();
    }
  });

  it('on a data folder that is a file, or below one', async () => {
    const file = await place.write('taken', '');
    const remedy = 'name another folder with PATCHBOARD_DATA or --data';
    expectRefusal(
      await place.run(['serve', '--port', '0', '--data', file]),
      new RegExp(`taken is a file: ${remedy}`),
    );
    const below = await place.run(['serve', '--port', '0', '--data', join(file, 'data')]);
    expectRefusal(below, new RegExp(`a part of the path is a file: ${remedy}`));
  });

  it('on a data folder that cannot be created', async () => {
    for (const folder of ['/proc/x', '/proc/x/y']) {
      expectRefusal(await place.run(['serve', '--port', '0', '--data', folder]), /cannot be created/);
    }
  });

  it('on a data folder that cannot be written', async () => {
    const folder = join(place.folder, 'closed');
    await mkdir(folder);
    await chmod(folder, 0o500);
    for (const data of [folder, join(folder, 'data')]) {
      const refused = await runUnprivileged(['serve', '--port', '0', '--data', data]);
      expectRefusal(refused, /cannot be created or written by this user: name another folder/);
    }
    await chmod(folder, 0o700);
  });

  it('on a database of another program', async () => {
    await (
      await place.serve()
    )();
    await chmod(join(place.data, 'patchboard.db'), 0o400);
    const refused = await runUnprivileged(['serve', '--port', '0']);
    expectRefusal(refused, /patchboard\.db cannot be read and written by this user; start as the user/);
  });

  it('on a config, hooks, packs or keys that are not there', async () => {
    const words: readonly (readonly [config: string, words: RegExp])[] = [
      ['hooks: [./none.mjs]\n', /hooks: \.\/none\.mjs cannot be loaded: there is no file \/.*none\.mjs$/m],
      ['packs: [./none.mjs]\n', /packs: \.\/none\.mjs cannot be loaded: there is no file \/.*none\.mjs$/m],
      ['limit: {}\n', /c\.yaml:1: unknown key limit; did you mean limits\?/],
      [
        'auth: {jwt: {issuer: a, audience: b, jwks_file: /none}}\n',
        /jwks_file: there is no such file or folder/,
      ],
    ];
    for (const [config, expected] of words) {
      const file = await place.write('c.yaml', config);
      expectRefusal(await place.run(['serve', '--port', '0', '--config', file]), expected);
    }
    const missing = await place.run(['serve', '--port', '0', '--config', join(place.folder, 'none.yaml')]);
    expectRefusal(missing, /cannot read .*none\.yaml: there is no such file or folder/);
    const folder = await place.run(['serve', '--port', '0', '--config', place.folder]);
    expectRefusal(folder, /cannot read .*: it is a folder/);
  });

  it('on an operator token that is none, on its own store as the database of a tool, and on one that is not there', async () => {
    await mkdir(place.data);
    await writeFile(join(place.data, 'operator.token'), 'op_short\n');
    expectRefusal(await place.run(['serve', '--port', '0']), /holds no operator token: delete it/);
    const own = `tools: {database.query: {database: "${join(place.data, 'patchboard.db')}"}}\n`;
    const ownStore = await place.run(['serve', '--port', '0', '--config', await place.write('o.yaml', own)]);
    expectRefusal(ownStore, /tools\.database\.query: the configured database is the platform's own store/);
    const config = await place.write('c.yaml', 'tools: {nope.tool: {timeout_ms: 5}}\n');
    const refused = await place.run(['serve', '--port', '0', '--config', config]);
    expectRefusal(refused, /c\.yaml:1: tools\.nope\.tool\.timeout_ms is for tools of this server/);
  });
});

describe('npm start', { timeout: LONG }, () => {
  it('ends like the server: the line on stderr, and its exit code', async () => {
    await withTakenPort(async (port) => {
      const env = { ...cleanEnvironment(), PORT: port, PATCHBOARD_DATA: place.data };
      const { code, error } = await runCommand('npm', ['start'], { cwd: ROOT, env });
      expect(error).toMatch(
        new RegExp(`^patchboard: port ${port} is in use: stop the other server, or`, 'm'),
      );
      expect(error).not.toContain('    at ');
      expect(code).toBe(2);
    });
  });
});
