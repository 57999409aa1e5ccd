import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import type { ChaosServerOptions } from './server.ts';

const CHAOS_SERVER = fileURLToPath(new URL('./server.ts', import.meta.url));
const SHIPPED_CLI = fileURLToPath(new URL('../../packages/patchboard/dist/cli/main.js', import.meta.url));

/** Compile cache of earlier starts, which the tests share: it halves the start time. */
const COMPILE_CACHE = fileURLToPath(new URL('../../node_modules/.cache/compiled', import.meta.url));

/** Those of the caller are not for the servers. */
const FOREIGN_VARIABLES = ['PATCHBOARD_CONFIG', 'DATABASE_URL', 'NATS_URL', 'PATCHBOARD_OPERATOR_TOKEN'];

/** Starting takes a second; the rest is tolerance for a busy machine. */
const READY_MS = 60_000;
const running: Set<ChildProcess> = new Set();

// Kill all servers when the test process ends.
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface StartOptions {
  readonly dataFolder: string;
  readonly configFile?: string;
  /** The server keeps its state in PostgreSQL. Default: in the data folder. */
  readonly database?: { readonly url: string; readonly operatorToken: string };
  /** Nodes notify each other through NATS at this URL. Default: through PostgreSQL. */
  readonly natsUrl?: string;
  readonly chaos?: Partial<ChaosServerOptions>;
  /** Options of Node itself. */
  readonly nodeArgs?: readonly string[];
}

const EVENT_LINE = /"event":"(cluster|engine|server|store)\./;
const TOOK_OVER = /"holder":"[^"]*process (\d+)"[^\n]*"event":"cluster\.took_over"/g;

/** A server in a separate process, as an operator would run it. */
export class ServerProcess {
  readonly #child: ChildProcess;
  readonly ended: Promise<Ended>;
  readonly #logged: Map<string, number> = new Map();
  /** Log lines about the server and its cluster, not about single calls. */
  readonly events: string[] = [];
  /** The processes whose calls this one took over, and when its log said so, epoch milliseconds. */
  readonly takeovers: { readonly of: number; readonly at: number }[] = [];
  #stdout = '';
  #stderr = '';
  #end: Ended | null = null;

  private constructor(child: ChildProcess) {
    this.#child = child;
    running.add(child);
    child.stdout?.on('data', (chunk: Buffer) => (this.#stdout += chunk.toString()));
    // The reason is at the end of the output.
    child.stderr?.on('data', (chunk: Buffer) => {
      const text = chunk.toString();
      this.#stderr = (this.#stderr + text).slice(-20_000);
      for (const [, event = ''] of text.matchAll(/"event":"([^"]+)"/g))
        this.#logged.set(event, this.logged(event) + 1);
      this.events.push(...text.split('\n').filter((line) => EVENT_LINE.test(line)));
      for (const [, of] of text.matchAll(TOOK_OVER)) this.takeovers.push({ of: Number(of), at: Date.now() });
    });
    this.ended = once(child, 'close').then(([code, signal]) => {
      running.delete(child);
      this.#end = { code: code as number | null, signal: signal as NodeJS.Signals | null };
      return this.#end;
    });
  }

  /** The chaos server; it may be killed before it is ready. */
  static chaos(given: StartOptions): ServerProcess {
    const { dataFolder, chaos = {} } = given;
    const options: ChaosServerOptions = {
      effectsFile: `${dataFolder}.effects`,
      failpoint: null,
      hit: 1,
      maxStoreBytes: null,
      planted: null,
      ...chaos,
    };
    const nodeArgs = ['--conditions=patchboard-source', ...(given.nodeArgs ?? [])];
    const args = [...nodeArgs, CHAOS_SERVER, JSON.stringify(options)];
    return ServerProcess.#start(args, given);
  }

  /** `patchboard serve`, exactly. */
  static shipped(given: StartOptions): ServerProcess {
    return ServerProcess.#start([...(given.nodeArgs ?? []), SHIPPED_CLI, 'serve'], given);
  }

  static #start(args: readonly string[], given: StartOptions): ServerProcess {
    const { dataFolder, configFile, database, natsUrl } = given;
    const env: NodeJS.ProcessEnv = {
      ...process.env,
      PORT: '0',
      PATCHBOARD_DATA: dataFolder,
      PATCHBOARD_LOG: 'warn',
      NODE_ENV: 'test',
      NODE_COMPILE_CACHE: COMPILE_CACHE,
    };
    for (const name of FOREIGN_VARIABLES) delete env[name];
    if (configFile !== undefined) env['PATCHBOARD_CONFIG'] = configFile;
    if (database !== undefined) {
      env['DATABASE_URL'] = database.url;
      env['PATCHBOARD_OPERATOR_TOKEN'] = database.operatorToken;
    }
    if (natsUrl !== undefined) env['NATS_URL'] = natsUrl;
    const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
    return new ServerProcess(child);
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  get stderr(): string {
    return this.#stderr;
  }

  /** How often the server logged the event. */
  logged(event: string): number {
    return this.#logged.get(event) ?? 0;
  }

  get hasEnded(): boolean {
    return this.#end !== null;
  }

  /** The URL from the ready line, or null if the process ended without one. */
  async ready(): Promise<string | null> {
    const deadline = Date.now() + READY_MS;
    for (;;) {
      const url = /ready at (http:\S+)/.exec(this.#stdout)?.[1];
      if (url !== undefined) return url;
      if (this.#end !== null) return null;
      if (Date.now() > deadline)
        throw new Error(`the server did not become ready; it said:\n${this.#stderr}`);
      await Promise.race([this.ended, later(20)]);
    }
  }

  /** Resolves to true when the process has printed its ready line again, to false if it does not within `ms`. */
  async restarts(ms: number): Promise<boolean> {
    const deadline = Date.now() + ms;
    while (this.#end === null && Date.now() < deadline) {
      if ((this.#stdout.match(/ready at http:/g) ?? []).length > 1) return true;
      await Promise.race([this.ended, later(20)]);
    }
    return false;
  }

  async mustBeReady(): Promise<string> {
    const url = await this.ready();
    if (url === null) throw new Error(`the server did not start; it said:\n${this.#stderr}`);
    return url;
  }

  /** Needs the memory probe among `nodeArgs`; Linux only. */
  async memoryAfterCollection(): Promise<{ heapUsed: number; rss: number; descriptors: number }> {
    const from = this.#stdout.length;
    this.#child.kill('SIGUSR2');
    for (;;) {
      const found = /^memory (.*)$/m.exec(this.#stdout.slice(from))?.[1];
      if (found !== undefined)
        return JSON.parse(found) as { heapUsed: number; rss: number; descriptors: number };
      if (this.#end !== null) throw new Error(`the server ended: ${this.#stderr}`);
      await later(20);
    }
  }

  kill(): void {
    this.#child.kill('SIGKILL');
  }

  /** Stops the process where it is, until `wake`. */
  freeze(): void {
    this.#child.kill('SIGSTOP');
  }

  wake(): void {
    this.#child.kill('SIGCONT');
  }

  terminate(): void {
    this.#child.kill('SIGTERM');
  }

  /** Cleans up, whatever state the process is in. */
  async destroy(): Promise<void> {
    if (this.#end === null) this.kill();
    await this.ended;
  }

  /** Current and peak resident memory in bytes; Linux only. */
  memory(): { now: number; peak: number } {
    const status = readFileSync(`/proc/${this.pid}/status`, 'utf8');
    const bytes = (name: string): number =>
      Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1] ?? 0) * 1024;
    return { now: bytes('VmRSS'), peak: bytes('VmHWM') };
  }
}

async function later(ms: number): Promise<void> {
  await new Promise<void>((resolve) => setTimeout(resolve, ms).unref());
}
