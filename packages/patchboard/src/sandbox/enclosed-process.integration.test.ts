import { expect, it } from 'vitest';
import { EnclosedProcess, type ProcessEnd } from './enclosed-process.ts';

const OPTIONS = { killsTrees: false, onOutput: () => {} };
const TOO_LONG = 'x'.repeat(16 * 1024 * 1024);

async function run(file: string, args: readonly string[]): Promise<ProcessEnd> {
  const started = new EnclosedProcess({ file, args, env: {} }, OPTIONS);
  expect(started.hasStarted).toBe(false);
  started.send({});
  started.keepsAlive(false);
  started.kill();
  return await started.ended;
}

it('ends with a problem when spawn throws', async () => {
  const { exitCode, problem } = await run('/bin/echo', [TOO_LONG]);
  expect(exitCode).toBeNull();
  expect(problem).toMatchObject({ code: 'sandbox_unavailable', message: 'spawn E2BIG' });
});

it('ends with a problem when spawn emits an error', async () => {
  const { exitCode, problem } = await run('/nowhere/program', []);
  expect(exitCode).toBeNull();
  expect(problem).toMatchObject({ code: 'sandbox_unavailable', message: 'spawn /nowhere/program ENOENT' });
});
