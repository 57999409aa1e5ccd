import { spawn } from 'node:child_process';
import { once } from 'node:events';

export interface CommandOptions {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Runs as another user; requires root. */
  readonly user?: { readonly uid?: number; readonly gid?: number };
}

export interface Finished {
  readonly code: number | null;
  readonly out: string;
  readonly error: string;
}

/** A program that runs until it is stopped or ends by itself. */
export interface Running {
  /** Resolves with the text so far once stdout matches; rejects when the program ends before that. */
  says(pattern: RegExp): Promise<string>;
  readonly finished: Promise<Finished>;
  stop(): Promise<Finished>;
}

export function startCommand(command: string, args: readonly string[], options: CommandOptions): Running {
  const { cwd, env, user } = options;
  const child = spawn(command, args, { cwd, env, ...user, stdio: ['ignore', 'pipe', 'pipe'] });
  const endWithUs = (): void => void child.kill('SIGKILL');
  process.once('exit', endWithUs);
  let out = '';
  let error = '';
  const listeners = new Set<() => void>();
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text;
    for (const listener of listeners) listener();
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => (error += text));
  const finished = once(child, 'close').then(() => {
    process.removeListener('exit', endWithUs);
    return { code: child.exitCode, out, error };
  });
  return {
    finished,
    says: (pattern) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          if (!pattern.test(out)) return;
          listeners.delete(look);
          resolve(out);
        };
        listeners.add(look);
        look();
        finished.then(
          () => reject(new Error(`${command} ended before it said ${pattern}: ${out}${error}`)),
          reject,
        );
      }),
    stop: async () => {
      child.kill('SIGTERM');
      return await finished;
    },
  };
}

export async function runCommand(
  command: string,
  args: readonly string[],
  options: CommandOptions,
): Promise<Finished> {
  return await startCommand(command, args, options).finished;
}
