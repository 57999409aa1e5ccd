import { execFileSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import type { CallView } from '@patchboard/wire';
import { nodeDigest } from '../../packages/patchboard/src/runtime/digest.ts';
import { sqliteStore } from '../../packages/patchboard/src/store/sqlite/sqlite-store.ts';
import { checkStore } from './check-store.ts';
import { readEffects } from './effects.ts';
import { History } from './history.ts';
import { get, post, type HttpResponse } from './http.ts';
import { TOOLS } from './pack.ts';
import { Findings, type ScenarioReport } from './scenario.ts';
import { ServerProcess } from './server-process.ts';

/** Enough for the store and its log of some thousand calls, and quick to fill. */
const DISK_BYTES = 12 * 1024 * 1024;
/** About ten times the smallest store that can start. */
const STORE_BYTES = 2 * 1024 * 1024;
const ENOUGH_REQUESTS = 20_000;
const SURELY_FULL = 5;
const RECOVERY_MS = 15_000;

/** G16: with a full disk writes get 507 and reads work; freed space is used without a restart. */
export async function runDiskFull(folder: string): Promise<ScenarioReport> {
  return process.getuid?.() === 0 ? await onSmallDisk(folder) : await onSmallStore(folder);
}

async function onSmallDisk(folder: string): Promise<ScenarioReport> {
  const disk = join(folder, 'disk');
  mkdirSync(disk);
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK_BYTES}`, 'tmpfs', disk], { stdio: 'pipe' });
  } catch (error) {
    throw new Error(
      'The disk-full test mounts a small tmpfs, and this root user may not mount. Run it where mount is allowed ' +
        '(in a container: --cap-add SYS_ADMIN), or as a user other than root, where a store of limited size stands in.',
      { cause: error },
    );
  }
  try {
    return await new FullStore(disk, folder).fillDisk();
  } finally {
    execFileSync('umount', ['--lazy', disk], { stdio: 'pipe' });
  }
}

async function onSmallStore(folder: string): Promise<ScenarioReport> {
  return await new FullStore(folder, folder).fillStore();
}

class FullStore {
  readonly #findings = new Findings();
  readonly #history = new History();
  readonly #dataFolder: string;
  readonly #filler: string;
  readonly #effectsFile: string;
  #requests = 0;

  constructor(disk: string, folder: string) {
    this.#dataFolder = join(disk, 'data');
    this.#filler = join(disk, 'filler');
    this.#effectsFile = join(folder, 'effects');
  }

  async fillDisk(): Promise<ScenarioReport> {
    const server = this.#start(null);
    try {
      const url = await server.mustBeReady();
      await this.#invoke(url, TOOLS.quick);
      const inFlight = String((await this.#invoke(url, TOOLS.pause, 1500)).body['tool_call_id']);
      fillUp(this.#filler);
      await this.#expectFull(url);
      await waitUntil(Date.now() + 2000); // its tool returns while there is no space for the result
      const { body: waiting } = await get(`${url}/v1/tool_calls/${inFlight}`);
      this.#findings.check(
        waiting['state'] === 'EXECUTING' || waiting['state'] === 'COMPLETED',
        `the call that ended while the disk was full is ${String(waiting['state'])}`,
      );
      rmSync(this.#filler);
      const refusedAfter = await this.#untilWritable(url);
      const { body: ended } = await get(`${url}/v1/tool_calls/${inFlight}`, {
        headers: { prefer: 'wait=10' },
      });
      this.#findings.check(
        ended['state'] === 'COMPLETED',
        `the call that ended while the disk was full became ${String(ended['state'])}`,
      );
      return await this.#finish(server, { how: 'small tmpfs', refusedAfter });
    } finally {
      await server.destroy();
    }
  }

  async fillStore(): Promise<ScenarioReport> {
    const small = this.#start(STORE_BYTES);
    let stoppedFullWithCode: number | null = null;
    try {
      await this.#expectFull(await small.mustBeReady());
      small.terminate();
      // Results that cannot be stored may prevent a clean drain.
      stoppedFullWithCode = (await small.ended).code;
    } finally {
      await small.destroy();
    }
    const roomy = this.#start(null);
    try {
      const refusedAfter = await this.#untilWritable(await roomy.mustBeReady());
      return await this.#finish(roomy, {
        how: 'max_page_count (not root)',
        refusedAfter,
        stoppedFullWithCode,
      });
    } finally {
      await roomy.destroy();
    }
  }

  #start(maxStoreBytes: number | null): ServerProcess {
    const chaos = { effectsFile: this.#effectsFile, maxStoreBytes };
    return ServerProcess.chaos({ dataFolder: this.#dataFolder, chaos });
  }

  async #invoke(url: string, tool: string, ms = 0): Promise<HttpResponse> {
    const n = (this.#requests += 1);
    const body = { run_id: `run_${n}`, args: { n, ms } };
    const response = await this.#history.exchange('invoke', n, () =>
      post(`${url}/v1/tools/${tool}/invoke`, body),
    );
    const acknowledged = new Set<string>();
    if (response.status === 202) acknowledged.add(String(response.body['tool_call_id']));
    this.#history.invocations.set(n, { n, kind: 'quick', acknowledged, sent: 1, refused: 0 });
    return response;
  }

  async #expectFull(url: string): Promise<void> {
    let last = 202;
    while (last === 202 && this.#requests < ENOUGH_REQUESTS) {
      const responses = await Promise.all(Array.from({ length: 20 }, () => this.#invoke(url, TOOLS.quick)));
      last = responses.find((response) => response.status !== 202)?.status ?? 202;
    }
    // Concurrent writes are refused together; single small ones may still fit into the last pages.
    let refusedInARow = 0;
    while (refusedInARow < SURELY_FULL && this.#requests < ENOUGH_REQUESTS) {
      const { status, body } = await this.#invoke(url, TOOLS.quick);
      refusedInARow = status === 202 ? 0 : refusedInARow + 1;
      this.#findings.check(
        status === 202 || (status === 507 && body['code'] === 'storage_full'),
        `with no room left a request got ${status} ${JSON.stringify(body)}`,
      );
    }
    this.#findings.check(refusedInARow === SURELY_FULL, `${this.#requests} requests did not fill it`);
    const id = this.#history.acknowledged()[0];
    for (const path of [`/v1/tool_calls/${id}`, '/v1/tool_calls', '/v1/tools', '/v1/ledger', '/healthz']) {
      const { status } = await get(`${url}${path}`);
      this.#findings.check(status === 200, `with no room left GET ${path} got ${status}`);
    }
  }

  /** Returns the number of requests that were still refused. */
  async #untilWritable(url: string): Promise<number> {
    const deadline = Date.now() + RECOVERY_MS;
    for (let refused = 0; ; refused += 1) {
      const { status } = await this.#invoke(url, TOOLS.quick);
      if (status === 202) return refused;
      if (Date.now() > deadline) {
        this.#findings.check(false, `room was made, and writes are still refused with ${status}`);
        return refused;
      }
      await waitUntil(Date.now() + 100);
    }
  }

  async #finish(server: ServerProcess, facts: Record<string, unknown>): Promise<ScenarioReport> {
    const url = await server.mustBeReady();
    for (const id of this.#history.acknowledged().slice(-50)) {
      const { body } = await get(`${url}/v1/tool_calls/${id}`, { headers: { prefer: 'wait=10' } });
      this.#history.sawCall(body as unknown as CallView);
    }
    server.terminate();
    const { code } = await server.ended;
    this.#findings.check(code === 0, `SIGTERM ended the server with code ${code}: ${server.stderr}`);
    const file = join(this.#dataFolder, 'patchboard.db');
    const effects = readEffects(this.#effectsFile);
    const store = await checkStore(() => sqliteStore({ file, digest: nodeDigest }), effects, this.#history);
    return {
      facts: { ...facts, responses: this.#history.responses(), store },
      violations: [...this.#findings.violations, ...this.#history.violations],
    };
  }
}

/** Fills the disk to the last byte. */
function fillUp(file: string): void {
  const descriptor = openSync(file, 'w');
  try {
    for (const size of [65_536, 4096, 512, 1]) while (hasWritten(descriptor, size));
  } finally {
    closeSync(descriptor);
  }
}

function hasWritten(descriptor: number, bytes: number): boolean {
  try {
    return writeSync(descriptor, Buffer.alloc(bytes)) > 0;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOSPC') return false;
    throw error;
  }
}

async function waitUntil(moment: number): Promise<void> {
  await new Promise<void>((resolve) => setTimeout(resolve, moment - Date.now()));
}
