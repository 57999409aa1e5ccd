// Serves the fixtures until it is interrupted, and prints its MCP URL. Argument: the port; default: a free one.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { startServer, type ServerProcess } from '../packages/patchboard/test/support/server-process.ts';

/** A normal config, with the pack. */
const CONFIG = {
  packs: [fileURLToPath(new URL('fixtures-pack.ts', import.meta.url))],
  mcp: { task_after_ms: 300 },
};

/** Starts `patchboard serve` with the fixtures and a temporary data folder. Default: a free port. */
export async function startFixtureServer(port = '0'): Promise<ServerProcess> {
  const folder = await mkdtemp(join(tmpdir(), 'patchboard-fixtures-'));
  try {
    const config = join(folder, 'patchboard.json');
    await writeFile(config, JSON.stringify(CONFIG));
    return await startServer({}, ['--config', config, '--port', port]);
  } finally {
    // The server has read it.
    await rm(folder, { recursive: true, force: true });
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const server = await startFixtureServer(process.argv[2]);
  process.stdout.write(`${server.url}/mcp\n`);
  const stop = async (): Promise<void> => {
    await server.stop();
    process.exit(0);
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void stop());
}
