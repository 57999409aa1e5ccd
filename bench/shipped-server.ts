import { spawn } from 'node:child_process';
import { once } from 'node:events';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { startProgram, type ServerProcess } from './child.ts';
import { postJson } from './http.ts';

/** The command as users have it: the build, not the sources. */
const BIN = fileURLToPath(new URL('../packages/patchboard/bin/patchboard.mjs', import.meta.url));
const TOOL = 'calculation.eval';
const EXPRESSION = '(3+4)*6';
const BODY = { run_id: 'run_bench', args: { expression: EXPRESSION } };

/** Starts `patchboard serve` on a data folder that has no keys. */
export async function startShippedServer(folder: string): Promise<ServerProcess> {
  return await startProgram(process.execPath, [BIN, 'serve'], {
    PATH: process.env['PATH'] ?? '',
    HOME: folder,
    PORT: '0',
    PATCHBOARD_DATA: folder,
  });
}

/** Seconds from the start of the process to the response with the result of a first call. */
export async function secondsToFirstResult(folder: string): Promise<number> {
  const began = performance.now();
  const server = await startShippedServer(folder);
  try {
    await postJson(`${server.url}/v1/tools/${TOOL}/invoke`, BODY, { prefer: 'wait=30' });
    return (performance.now() - began) / 1000;
  } finally {
    await server.stop();
  }
}

/** Seconds that `patchboard call` takes from the shell. */
export async function secondsOfCommand(url: string, folder: string): Promise<number> {
  const args = [BIN, 'call', TOOL, `expression=${EXPRESSION}`, '--url', url];
  return await secondsOf(process.execPath, args, { HOME: folder, PATCHBOARD_DATA: folder });
}

/** Seconds that `curl` takes for the same call. */
export async function secondsOfCurl(url: string, folder: string): Promise<number> {
  const headers = ['-H', 'content-type: application/json', '-H', 'prefer: wait=30'];
  const request = ['-d', JSON.stringify(BODY), `${url}/v1/tools/${TOOL}/invoke`];
  return await secondsOf('curl', ['-sS', '--fail', ...headers, ...request], { HOME: folder });
}

async function secondsOf(
  command: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<number> {
  const began = performance.now();
  const child = spawn(command, args, {
    env: { PATH: process.env['PATH'] ?? '', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  const seconds = (performance.now() - began) / 1000;
  if (code !== 0 || !output.includes('42')) throw new Error(`${command} ended with code ${code}: ${output}`);
  return seconds;
}
