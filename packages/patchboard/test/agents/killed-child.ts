import { spawn } from 'node:child_process';
import { expect } from 'vitest';
import { cleanEnvironment } from '../support/server-process.ts';

/** Runs a program that kills itself, and waits for its end. */
export async function killedChild(file: string, ...args: readonly string[]): Promise<void> {
  const child = spawn(process.execPath, ['--conditions=patchboard-source', file, ...args], {
    env: cleanEnvironment(),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  child.stdout.on('data', (chunk) => (said += chunk));
  child.stderr.on('data', (chunk) => (said += chunk));
  const signal = await new Promise((resolve) => child.on('close', (_code, killedBy) => resolve(killedBy)));
  expect(signal, said).toBe('SIGKILL');
}
