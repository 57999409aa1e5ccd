import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('../../../../', import.meta.url));

describe('npm start', () => {
  let data: string;
  beforeEach(async () => {
    data = await mkdtemp(join(tmpdir(), 'patchboard-start-'));
  });
  afterEach(async () => {
    await rm(data, { recursive: true, force: true });
  });

  it('serves, and a SIGTERM sent to npm itself drains the server, exits 0 and leaves nothing running', async () => {
    const npm = spawn('npm', ['start'], {
      cwd: root,
      env: { ...process.env, PORT: '0', PATCHBOARD_DATA: data, NODE_ENV: '' },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const exited = once(npm, 'exit');
    let url: string | undefined;
    for await (const line of createInterface(npm.stdout)) {
      url = /ready at (http:\S+)/.exec(line)?.[1];
      if (url !== undefined) break;
    }
    if (url === undefined) throw new Error(`npm start ended before it was ready: ${String(await exited)}`);
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    expect((await fetch(url)).status).toBe(200);
    npm.kill('SIGTERM');
    expect(await exited).toEqual([0, null]);
    await expect(fetch(`${url}/healthz`)).rejects.toThrow('fetch failed');
  }, 120_000);
});
