import { chmod, chown, mkdir, readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LONG, Workplace } from '../cli/cli-process.ts';
import { expectRefusal } from '../support/expect-refusal.ts';
import type { Finished } from '../support/run-command.ts';

const isRoot = process.getuid?.() === 0;
const OTHER_USER = 65_534;

let place: Workplace;
beforeEach(async () => {
  place = await Workplace.create();
});
afterEach(() => place.remove());

const modeOf = async (path: string): Promise<string> => ((await stat(path)).mode & 0o777).toString(8);

/** Gives what is there to another user and starts as this one, or, not being root, starts on a folder of root's. */
async function startOnFolderOfAnother(): Promise<Finished> {
  if (!isRoot) return await place.run(['serve', '--port', '0', '--data', '/var/tmp']);
  await chown(place.data, OTHER_USER, OTHER_USER);
  return await place.run(['serve', '--port', '0']);
}

describe('a data folder that other users can read', { timeout: LONG }, () => {
  it('is closed to them at the start, its operator token too, and the log says so', async () => {
    await mkdir(place.data);
    const token = join(place.data, 'operator.token');
    await writeFile(token, `op_${'a'.repeat(43)}\n`);
    await chmod(place.data, 0o755);
    await chmod(token, 0o644);
    const { code, out } = await place.run(['doctor']);
    expect(code).toBe(1);
    expect(out).toMatch(/FAIL {2}data folder .*mode 0755: run chmod 700 on it/);
    const server = place.start(['serve', '--port', '0']);
    await server.says(/ready at/);
    expect([await modeOf(place.data), await modeOf(token)]).toEqual(['700', '600']);
    const { error } = await server.stop();
    const lines = error.split('\n').filter((line) => line.includes('"permissions.tightened"'));
    expect(lines.map((line) => JSON.parse(line) as unknown)).toMatchObject([
      { level: 'warn', path: place.data, from: '0755', to: '0700' },
      { level: 'warn', path: token, from: '0644', to: '0600' },
    ]);
  });

  it('is refused if it holds files of other programs', async () => {
    await mkdir(place.data);
    await place.write('data/thesis.txt', 'not ours');
    await chmod(place.data, 0o755);
    const refused = await place.run(['serve', '--port', '0']);
    expectRefusal(
      refused,
      /data can be read by other users, mode 0755: run chmod 700 on it \(not done here, because it holds other files\)/,
    );
    expect([await modeOf(place.data), await readdir(place.data)]).toEqual(['755', ['thesis.txt']]);
  });

  it('is refused if it belongs to another user', async () => {
    await mkdir(place.data, { mode: 0o700 });
    expectRefusal(
      await startOnFolderOfAnother(),
      /belongs to user \d+, and this is user \d+: start as user \d+, or run chown \d+ on it/,
    );
  });
});
