import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The root of the repository. */
export const ROOT: string = fileURLToPath(new URL('../../../../', import.meta.url));

/** The command line, built by the setup of the tiers that start it. It starts in half the time that the sources take. */
export const CLI: string = join(ROOT, 'packages', 'patchboard', 'dist', 'cli', 'main.js');
/** Node's compile cache, for processes that run from the sources: these read hundreds of files. */
const COMPILE_CACHE = join(ROOT, 'node_modules', '.cache', 'compiled');

/** `patchboard serve` as a separate process, on a free port and a temporary data folder. */
export interface ServerProcess {
  readonly url: string;
  readonly port: string;
  readonly pid: number;
  readonly dataFolder: string;
  /** The ready line. */
  readonly readyLine: string;
  /** The output on stderr so far. */
  readonly log: () => string;
  /** The output on stdout so far. */
  readonly out: () => string;
  /** Stops the process and returns its exit code; keeps its files. */
  exit(): Promise<number | null>;
  /** The same, and removes its files. */
  stop(): Promise<number | null>;
}

/** Operating system limits of the process. */
export interface ProcessLimits {
  /** Limit of file descriptors (`ulimit -n`). Default: that of the tests. */
  readonly descriptors?: number;
}

export async function startServer(
  environment: Readonly<Record<string, string>> = {},
  flags: readonly string[] = [],
  { descriptors }: ProcessLimits = {},
): Promise<ServerProcess> {
  const folder = mkdtempSync(join(tmpdir(), 'patchboard-test-'));
  const dataFolder = join(folder, 'data');
  const args = [CLI, 'serve', '--port', '0', '--data', dataFolder, ...flags];
  const limited = ['bash', '-c', 'ulimit -n "$0" && exec "$@"', String(descriptors)];
  const [file = '', ...rest] = [...(descriptors === undefined ? [] : limited), process.execPath, ...args];
  const child = spawn(file, rest, {
    cwd: folder,
    env: { ...cleanEnvironment(), ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const endWithUs = (): void => void child.kill('SIGKILL');
  process.once('exit', endWithUs);
  let log = '';
  let out = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    log = (log + text).slice(-100_000);
  });
  try {
    const { url, line } = await ready(child, () => log);
    return {
      url,
      readyLine: line,
      port: new URL(url).port,
      pid: child.pid ?? 0,
      dataFolder,
      log: () => log,
      out: () => out,
      exit: async () => await end(child),
      stop: async () => {
        const code = await end(child);
        process.removeListener('exit', endWithUs);
        rmSync(folder, { recursive: true, force: true });
        return code;
      },
    };
  } catch (error) {
    await end(child);
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
}

/** The tests' environment without the variables that configure a server or a client. */
export function cleanEnvironment(): Record<string, string> {
  const kept = Object.entries(process.env).filter(
    ([name, value]) =>
      value !== undefined &&
      !/^(PATCHBOARD_|OPEN_METEO_|npm_|VITEST|NODE_)|^(PORT|HOST|DATABASE_URL|DATABASE_LISTEN_URL|NATS_URL)(_FILE)?$/.test(
        name,
      ),
  );
  // Without the profiles of the user who runs the tests.
  const own = { NODE_COMPILE_CACHE: COMPILE_CACHE, XDG_CONFIG_HOME: '/nonexistent' };
  return { ...(Object.fromEntries(kept) as Record<string, string>), ...own };
}

/** Rejects at once when the process ends before it is ready. */
function ready(child: ChildProcess, log: () => string): Promise<{ url: string; line: string }> {
  return new Promise((resolve, reject) => {
    let said = '';
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      said += text;
      const [line, url] = /^.*ready at (http:\/\/\S+).*(?=\n)/m.exec(said) ?? [];
      if (line !== undefined && url !== undefined) resolve({ url, line });
    });
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`the server ended with code ${code}: ${log()}`)));
  });
}

async function end(child: ChildProcess): Promise<number | null> {
  if (child.exitCode === null && child.signalCode === null) {
    // Not `exit`: the last output may not have been read yet.
    const exited = once(child, 'close');
    child.kill('SIGTERM');
    await exited;
  }
  return child.exitCode;
}
