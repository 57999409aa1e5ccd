import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parsed } from './json-rpc.mjs';
import { textOf } from './response-body.mjs';

const PROBE_MS = 2000;

/**
 * Returns what the server on the data folder wrote about itself, or null if there is no readable file.
 * @returns {{ url: string, pid: number, temporary?: boolean } | null}
 */
export function readServerFile(dataFolder) {
  try {
    const value = JSON.parse(readFileSync(join(dataFolder, 'server.json'), 'utf8'));
    return typeof value.url === 'string' && Number.isSafeInteger(value.pid) ? value : null;
  } catch {
    return null;
  }
}

export function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

/** Resolves to whether a Patchboard server responds at the URL. */
export async function isPatchboard(url) {
  try {
    const response = await fetch(`${url}/healthz`, {
      signal: AbortSignal.timeout(PROBE_MS),
      redirect: 'error',
    });
    return typeof parsed(await textOf(response))?.version === 'string';
  } catch {
    return false;
  }
}
