import { fork } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { aFolder } from '../support/a-folder.ts';
import { afterUse } from '../support/after-use.ts';
import { cleanEnvironment } from '../support/server-process.ts';
import { waitFor } from '../support/wait-for.ts';
import type { Counts } from './counters.ts';

const CHILD = fileURLToPath(new URL('counting-server.ts', import.meta.url));
export const TOKEN = 'operator-token-of-the-walks-of-a-call';

export interface CountingServer {
  readonly url: string;
  /** What it did since the last time. */
  take(): Promise<Counts>;
  /** Calls `walk.echo` of a board in its process. */
  embedded(args: unknown): Promise<void>;
}

/** Starts a server that counts. `config`: lines of its config file; `database`: URL of PostgreSQL, otherwise SQLite. */
export async function aCountingServer(config: string, database?: string): Promise<CountingServer> {
  const folder = await aFolder();
  const file = join(folder, 'config.yaml');
  await writeFile(file, config);
  const child = fork(CHILD, {
    execArgv: ['--conditions=patchboard-source'],
    env: {
      ...cleanEnvironment(),
      PORT: '0',
      PATCHBOARD_CONFIG: file,
      PATCHBOARD_DATA: join(folder, 'data'),
      PATCHBOARD_LOG: 'error',
      ...(database === undefined ? {} : { DATABASE_URL: database, PATCHBOARD_OPERATOR_TOKEN: TOKEN }),
    },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  const exited = once(child, 'close');
  afterUse(async () => {
    child.kill('SIGKILL');
    await exited;
  });
  let output = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => (output += text));
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (output += text));
  const url = await waitFor(() => {
    const found = /ready at (http:\/\/\S+)/.exec(output)?.[1];
    if (found === undefined) throw new Error(`the server is not ready: ${output}`);
    return found;
  });
  const ask = async (question: object): Promise<unknown> => {
    const answered = once(child, 'message');
    child.send(question);
    const [reply] = (await answered) as [object];
    if ('problem' in reply) throw new Error(String(reply.problem));
    return reply;
  };
  return {
    url,
    take: async () => (await ask({})) as Counts,
    embedded: async (args) => void (await ask({ embedded: args })),
  };
}
