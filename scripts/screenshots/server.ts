import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/** A real server with its own data folder, as `npm start` runs it. */
export interface SceneServer {
  readonly url: string;
  readonly operatorToken: string;
  readonly folder: string;
  stop(): Promise<void>;
  /** Ends the process with SIGKILL; its folder stays until `stop`. */
  kill(): void;
}

/** `settings`: further environment variables. With `PATCHBOARD_OPERATOR_TOKEN` there is no token in the data folder. */
export async function startServer(
  root: string,
  settings: Readonly<Record<string, string>> = {},
): Promise<SceneServer> {
  const folder = mkdtempSync(join(tmpdir(), 'patchboard-screenshots-'));
  const data = join(folder, 'data');
  const child = spawn(process.execPath, [join(root, 'packages/patchboard/bin/patchboard.mjs'), 'serve'], {
    cwd: folder,
    env: { ...process.env, PORT: '0', PATCHBOARD_DATA: data, ...settings },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const ended = once(child, 'exit');
  const url = await readyUrl(child);
  return {
    url,
    folder,
    operatorToken:
      settings['PATCHBOARD_OPERATOR_TOKEN'] ?? readFileSync(join(data, 'operator.token'), 'utf8').trim(),
    kill: () => void child.kill('SIGKILL'),
    async stop() {
      child.kill('SIGTERM');
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function readyUrl(child: ChildProcess): Promise<string> {
  if (child.stdout === null) throw new Error('the server has no output');
  for await (const line of createInterface({ input: child.stdout })) {
    const url = /http:\/\/[^\s/#]+/.exec(line)?.[0];
    if (url !== undefined) {
      child.stdout.resume();
      return url;
    }
  }
  throw new Error('the server ended before it was ready');
}
