import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { isIPv4 } from 'node:net';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { isRecord } from '@patchboard/wire/json';
import { ConfigError } from './config-error.ts';
import { fileProblem } from './file-problem.ts';

/** `server.json` of a data folder: the address of the server that uses the folder. */
export interface ServerFile {
  readonly url: string;
  readonly pid: number;
  /** RFC 3339. */
  readonly startedAt: string;
  readonly version: string;
  /** The server ends with the process that started it. */
  readonly temporary?: boolean;
}

const PROBE_MS = 2000;

function serverFileIn(dataFolder: string): string {
  return join(dataFolder, 'server.json');
}

/** Writes the file atomically, readable by its owner only. Call it while this process owns the data folder. */
export async function writeServerFile(dataFolder: string, server: ServerFile): Promise<void> {
  const file = serverFileIn(dataFolder);
  const draft = `${file}-draft`;
  // A draft that a killed process left could have another mode, which `writeFile` would keep.
  await rm(draft, { force: true });
  await writeFile(draft, `${JSON.stringify({ ...server, url: reachable(server.url) })}\n`, { mode: 0o600 });
  await rename(draft, file);
}

/** Removes the file if it names `pid`: the folder may have been replaced by one of another server. */
export async function removeServerFile(dataFolder: string, pid: number): Promise<void> {
  if ((await readServerFile(dataFolder))?.pid === pid) await rm(serverFileIn(dataFolder), { force: true });
}

/**
 * Resolves to the server that uses the data folder; to null if there is no file, or if it was left by a killed server.
 * Rejects with a `ConfigError` if the file cannot be read. A file that names another machine is ignored: the folder may have come with a project of others, and credentials are sent
 * to the URL.
 */
export async function runningServer(dataFolder: string): Promise<ServerFile | null> {
  const server = await readServerFile(dataFolder);
  if (server === null || !isPidAlive(server.pid) || !isOfThisMachine(server.url)) return null;
  return (await isPatchboard(server.url)) ? server : null;
}

async function readServerFile(dataFolder: string): Promise<ServerFile | null> {
  const file = serverFileIn(dataFolder);
  try {
    const value: unknown = JSON.parse(await readFile(file, 'utf8'));
    return isServerFile(value) ? value : null;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // ENOTDIR: the data folder is a file. A server refuses it with a better message.
    if (error instanceof SyntaxError || code === 'ENOENT' || code === 'ENOTDIR') return null;
    throw new ConfigError(
      `cannot read ${file}: ${fileProblem(error)}; name the server with PATCHBOARD_URL, or another data folder with PATCHBOARD_DATA`,
    );
  }
}

function isServerFile(value: unknown): value is ServerFile {
  if (!isRecord(value) || !Number.isSafeInteger(value['pid'])) return false;
  return ['url', 'startedAt', 'version'].every((name) => typeof value[name] === 'string');
}

function isOfThisMachine(url: string): boolean {
  if (!URL.canParse(url)) return false;
  const { hostname } = new URL(url);
  const address = hostname.replaceAll(/^\[|\]$/g, '');
  if (hostname === 'localhost' || (isIPv4(address) && address.startsWith('127.'))) return true;
  return Object.values(networkInterfaces()).some((all) => all?.some((one) => one.address === address));
}

function isPidAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // The process belongs to another user.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

async function isPatchboard(url: string): Promise<boolean> {
  try {
    const response = await fetch(`${url}/healthz`, { signal: AbortSignal.timeout(PROBE_MS) });
    const body: unknown = await response.json();
    return response.ok && isRecord(body) && typeof body['version'] === 'string';
  } catch {
    // Not reachable, or no Patchboard server.
    return false;
  }
}

/** Replaces an address that means all interfaces, to which a client cannot connect on every system. */
function reachable(url: string): string {
  return url.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:');
}
