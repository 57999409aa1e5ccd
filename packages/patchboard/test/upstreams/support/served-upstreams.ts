import { createClient, type PatchboardClient } from '@patchboard/client';
import type { UpstreamView } from '@patchboard/wire';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import { aFolder } from '../../support/a-folder.ts';
import { startServer, type ServerProcess } from '../../support/server-process.ts';
import { waitFor } from '../../support/wait-for.ts';

const PROGRAM = fileURLToPath(new URL('../servers/troublesome-server.mjs', import.meta.url));

/** `patchboard serve` with upstreams, until the test ends. `troublesome` is a process; the others are given. */
export class ServedUpstreams {
  readonly server: ServerProcess;
  readonly operator: PatchboardClient;
  /** Not the operator: a caller cannot decide on its own call. */
  readonly agent: PatchboardClient;
  readonly #folder: string;

  private constructor(server: ServerProcess, folder: string) {
    this.server = server;
    this.#folder = folder;
    const key = readFileSync(join(server.dataFolder, 'operator.token'), 'utf8').trim();
    this.operator = createClient({ url: server.url, key });
    this.agent = createClient({ url: server.url });
  }

  static async start(
    upstreams: Readonly<Record<string, object>> = {},
    environment: Readonly<Record<string, string>> = {},
  ): Promise<ServedUpstreams> {
    const folder = await aFolder();
    const description = join(folder, 'description');
    writeFileSync(description, 'Does something.');
    const troublesome = {
      command: process.execPath,
      args: [PROGRAM, join(folder, 'journal'), description],
      ...(environment['SECRET'] === undefined ? {} : { env: { SECRET: '${SECRET}' } }),
    };
    const config = join(folder, 'patchboard.json');
    writeFileSync(config, JSON.stringify({ upstreams: { troublesome, ...upstreams } }));
    const server = await startServer(environment, ['--config', config]);
    onTestFinished(async () => void (await server.stop()));
    const served = new ServedUpstreams(server, folder);
    await waitFor(async () => {
      const missing = (await served.operator.upstreams()).filter(({ tools }) => tools.length === 0);
      if (missing.length > 0) throw new Error(JSON.stringify(missing));
    });
    return served;
  }

  /** The executions of a tool of the process: the process id of each. */
  executions(tool: string): number[] {
    const journal = join(this.#folder, 'journal');
    const lines = existsSync(journal) ? readFileSync(journal, 'utf8').trim().split('\n') : [];
    return lines.filter((line) => line.startsWith(`${tool} `)).map((line) => Number(line.split(' ')[1]));
  }

  /** Changes the contracts of the process. They are noticed when it is started again. */
  describe(text: string): void {
    writeFileSync(join(this.#folder, 'description'), text);
  }

  async upstream(name: string): Promise<UpstreamView> {
    const found = (await this.operator.upstreams()).find((upstream) => upstream.name === name);
    if (found === undefined) throw new Error(`there is no upstream ${name}`);
    return found;
  }
}
