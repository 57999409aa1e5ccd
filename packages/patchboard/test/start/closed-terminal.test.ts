import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { LONG, Workplace } from '../cli/cli-process.ts';

/** Writes its process id, and ends neither with its input nor at a hang-up. */
const STUCK =
  "fs.writeFileSync('pid', String(process.pid)); process.on('SIGHUP', () => {}); setInterval(() => {}, 1e6)";

/** A process that was ended, and is not reaped yet, does not run. */
function isRunning(pid: number): boolean {
  if (!existsSync(`/proc/${pid}/stat`)) return false;
  return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
}

it(
  'a server whose terminal is closed stops as at a SIGTERM, with the processes of its upstreams',
  { timeout: LONG },
  async () => {
    const place = await Workplace.create();
    onTestFinished(() => place.remove());
    const upstreams = { stuck: { command: process.execPath, args: ['--eval', STUCK], cwd: place.folder } };
    place.environment['PATCHBOARD_CONFIG'] = await place.write('config.yaml', JSON.stringify({ upstreams }));
    const server = place.start(['serve', '--port', '0']);
    await server.says(/ready at/);
    const pidFile = join(place.folder, 'pid');
    await expect.poll(() => existsSync(pidFile) && readFileSync(pidFile, 'utf8')).toMatch(/^\d+$/);
    const child = Number(readFileSync(pidFile, 'utf8'));
    onTestFinished(() => {
      if (isRunning(child)) process.kill(child, 'SIGKILL');
    });
    const file = join(place.data, 'server.json');
    const { pid } = JSON.parse(readFileSync(file, 'utf8')) as { readonly pid: number };
    // The system and the shell of the terminal each send one.
    process.kill(pid, 'SIGHUP');
    process.kill(pid, 'SIGHUP');
    const { code, error } = await server.finished;
    expect([code, error.includes('server.stopped')]).toEqual([0, true]);
    expect([isRunning(child), existsSync(file)]).toEqual([false, false]);
  },
);
