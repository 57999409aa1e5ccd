import { readFileSync } from 'node:fs';
import { isIPv4 } from 'node:net';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { parsed } from './json-rpc.mjs';
import { textOf } from './response-body.mjs';

const PROBE_MS = 2000;

/**
 * Returns what the server on the data folder wrote about itself, or null if there is no readable file. A URL of another
 * machine is not accepted: the folder may have come with a project of others, and the key would be sent there.
 * @returns {{ url: string, pid: number, temporary?: boolean } | null}
 */
export function readServerFile(dataFolder) {
  try {
    const value = JSON.parse(readFileSync(join(dataFolder, 'server.json'), 'utf8'));
    return isOfThisMachine(new URL(value.url)) && Number.isSafeInteger(value.pid) ? value : null;
  } catch {
    return null;
  }
}

/** @param {URL} url */
function isOfThisMachine({ hostname }) {
  const address = hostname.replace(/^\[|\]$/g, '');
  if (hostname === 'localhost' || (isIPv4(address) && address.startsWith('127.'))) return true;
  return Object.values(networkInterfaces()).some((all) => all?.some((one) => one.address === address));
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
