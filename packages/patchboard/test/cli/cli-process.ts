import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createClient, type PatchboardClient } from '@patchboard/client';
import {
  runCommand,
  startCommand,
  type CommandOptions,
  type Finished,
  type Running,
} from '../support/run-command.ts';
import { cleanEnvironment, CLI } from '../support/server-process.ts';

const SESSION = fileURLToPath(new URL('../support/terminal-session.py', import.meta.url));

/** Enough for many processes in a row on a busy machine. */
export const LONG = 180_000;

/** A URL without a server. */
export const NOWHERE = 'http://127.0.0.1:9';

/** A folder to work in, with the real CLI as child processes and `data` as its data folder. */
export class Workplace {
  readonly folder: string;
  /** Environment of all following commands. */
  environment: Record<string, string>;

  constructor(folder: string) {
    this.folder = folder;
    this.environment = { PATCHBOARD_URL: NOWHERE, PATCHBOARD_DATA: this.data };
  }

  static async create(): Promise<Workplace> {
    return new Workplace(await mkdtemp(join(tmpdir(), 'patchboard-cli-')));
  }

  get data(): string {
    return join(this.folder, 'data');
  }

  /** Runs one command; `more` is added to its environment only. */
  run(
    args: readonly string[],
    more: Record<string, string> = {},
    user: CommandOptions['user'] = {},
  ): Promise<Finished> {
    return runCommand(process.execPath, this.#argv(args), { ...this.#options(more), user });
  }

  /** Starts a command that runs until it is stopped. */
  start(args: readonly string[]): Running {
    return startCommand(process.execPath, this.#argv(args), this.#options({}));
  }

  /** Runs a command that must succeed, and returns its JSON. */
  async json<T>(args: readonly string[], more: Record<string, string> = {}): Promise<T> {
    const { code, out, error } = await this.run([...args, '--json'], more);
    if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}: ${error}`);
    return JSON.parse(out) as T;
  }

  /** Runs a command in a pseudo-terminal and presses keys when the patterns appear. */
  async terminal(
    steps: readonly (readonly [pattern: string, keys: string])[],
    args: readonly string[],
    more: Record<string, string> = {},
  ): Promise<{ transcript: string; code: number; failed: string | null; cooked: boolean }> {
    const argv = [SESSION, JSON.stringify(steps), process.execPath, ...this.#argv(args)];
    const { out, error } = await runCommand('python3', argv, this.#options({ TERM: 'xterm', ...more }));
    if (out === '') throw new Error(error);
    return JSON.parse(out) as { transcript: string; code: number; failed: string | null; cooked: boolean };
  }

  async write(name: string, text: string): Promise<string> {
    const file = join(this.folder, name);
    await writeFile(file, text);
    return file;
  }

  /**
   * Starts a server on the data folder, which the commands find by themselves. Returns a function that stops
   * it.
   */
  async serve(config = ''): Promise<() => Promise<void>> {
    const more = config === '' ? {} : { PATCHBOARD_CONFIG: await this.write('config.yaml', config) };
    const server = startCommand(process.execPath, this.#argv(['serve', '--port', '0']), this.#options(more));
    const url = /ready at (\S+)/.exec(await server.says(/ready at \S+.*\n/))?.[1] ?? '';
    this.environment['PATCHBOARD_URL'] = url;
    return async () => {
      this.environment['PATCHBOARD_URL'] = NOWHERE;
      await server.stop();
    };
  }

  /** For test setup; the tested behaviour goes through the CLI. */
  async client(): Promise<PatchboardClient> {
    const key = await readFile(join(this.data, 'operator.token'), 'utf8');
    return createClient({ url: this.environment['PATCHBOARD_URL'] ?? NOWHERE, key: key.trim() });
  }

  remove(): Promise<void> {
    return rm(this.folder, { recursive: true, force: true });
  }

  #argv(args: readonly string[]): string[] {
    return [CLI, ...args];
  }

  #options(more: Record<string, string>) {
    return { cwd: this.folder, env: { ...cleanEnvironment(), ...this.environment, ...more } };
  }
}
