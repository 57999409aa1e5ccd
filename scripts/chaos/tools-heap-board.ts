import { join } from 'node:path';
import { Agent } from '../../packages/patchboard/src/agent/agent.ts';
import { isOpen } from '../../packages/patchboard/src/core/call/call.ts';
import { TenantDirectory } from '../../packages/patchboard/src/core/access/tenant-directory.ts';
import { DEFAULT_TENANT } from '../../packages/patchboard/src/core/access/principal.ts';
import { resolveLimits } from '../../packages/patchboard/src/core/limits.ts';
import type { Pack, ServerTool } from '../../packages/patchboard/src/core/tools/server-tool.ts';
import { essentialsPack } from '../../packages/patchboard/src/packs/essentials/pack.ts';
import { heritagePack } from '../../packages/patchboard/src/packs/heritage/pack.ts';
import { sqliteHeritageStorage } from '../../packages/patchboard/src/packs/heritage/sqlite/sqlite-storage.ts';
import type { HeritageStorage } from '../../packages/patchboard/src/packs/heritage/storage.ts';
import { nodeDigest } from '../../packages/patchboard/src/runtime/digest.ts';
import { timeOrderedIds } from '../../packages/patchboard/src/runtime/ids.ts';
import { nodeClock } from '../../packages/patchboard/src/runtime/node-clock.ts';
import { SILENT_LOG } from '../../packages/patchboard/src/runtime/silent-log.ts';
import { toRecord } from '../../packages/patchboard/src/sdk/tool-call-record.ts';
import { sqliteStore } from '../../packages/patchboard/src/store/sqlite/sqlite-store.ts';
import {
  embeddedPrincipal,
  openEngineContext,
  type EngineContext,
} from '../../packages/patchboard/src/wiring/engine-context.ts';
import { openSandboxSetup, resolveWorkspace } from '../../packages/patchboard/src/wiring/sandbox-setup.ts';
import { delegatingModel, LARGE_SITE, startWeatherService } from './tools-heap-data.ts';

/** Every built-in tool behind a real engine, a SQLite store and the sandbox of this machine. */
export interface ToolBoard {
  readonly tools: readonly string[];
  /** Rejects unless the call ends as COMPLETED. `bytes` is the size of arguments and result, as JSON. */
  call(name: string, args: object): Promise<{ readonly result: unknown; readonly bytes: number }>;
  /** Has a new agent call `task_run` with this task, which its sub-agent returns; resolves with the size of both. */
  runTask(task: string): Promise<number>;
  /** Removes the calls that have ended, so that the store stays small. */
  purge(): Promise<void>;
  close(): Promise<void>;
}

const AGENT = 'agent';
const SITE = 'village';
const NO_RATES = { principal: null, tenant: null, tool: null, tools: new Map() };
const PURGE_BATCH = 1000;

/** `more`: tools besides the built-in ones. */
export async function openToolBoard(folder: string, more: readonly ServerTool[] = []): Promise<ToolBoard> {
  const weather = await startWeatherService();
  const store = await sqliteStore({ file: join(folder, 'patchboard.db'), digest: nodeDigest });
  const ids = timeOrderedIds(nodeClock);
  const settings = resolveWorkspace({});
  const sandboxSetup = await openSandboxSetup(settings, { store, ids, log: SILENT_LOG, folder, tasks: true });
  const packs: readonly Pack[] = [
    essentialsPack({
      weather: { forecastUrl: weather.url, geocodingUrl: weather.url },
      database: { target: null, sampleFile: join(folder, 'sample.db'), forbiddenFiles: [] },
      now: () => nodeClock.now(),
    }),
    sandboxSetup.pack,
    await heritageIn(folder),
  ];
  const all = [...packs, { name: 'more', tools: more }];
  const tenant = { sites: [SITE], packs: all.map(({ name }) => name), limits: {} };
  const room = await openEngineContext({
    store,
    log: SILENT_LOG,
    limits: resolveLimits({ concurrencyPerRun: 64 }),
    policy: { default: { mode: 'auto', autoAllowTools: ['*'] } },
    rates: NO_RATES,
    redact: [],
    hooks: [],
    workspaces: sandboxSetup.workspaces,
    sandbox: sandboxSetup.report,
    tenants: new TenantDirectory(new Map([[DEFAULT_TENANT, tenant]])),
  });
  for (const pack of all) room.engine.addPack(pack);
  await room.engine.start();
  return {
    tools: packs.flatMap(({ tools }) => tools.map(({ name }) => name)),
    call: async (name, args) => await callTool(room, name, args),
    runTask: async (task) => {
      const { calls } = await new Agent({ board: room, model: delegatingModel(task), name: AGENT }).send(
        'go',
      );
      const [record] = calls;
      if (record?.state !== 'COMPLETED') throw new Error(`task_run: ${JSON.stringify(record)}`);
      return task.length + JSON.stringify(record.result).length;
    },
    purge: async () => {
      while ((await store.purgeCalls(nodeClock.now(), PURGE_BATCH)) === PURGE_BATCH);
    },
    close: async () => {
      await room.host.activeWork.close();
      await room.engine.drain();
      for (const pack of packs) await pack.close?.();
      await sandboxSetup.close();
      await store.close();
      await weather.close();
    },
  };
}

async function callTool(
  { engine }: EngineContext,
  toolName: string,
  args: object,
): Promise<{ result: unknown; bytes: number }> {
  const principal = embeddedPrincipal(AGENT);
  const submitted = await engine.submit({ toolName, runId: 'run_heap', args }, principal);
  if (submitted.kind === 'refused') throw new Error(`${toolName}: ${submitted.failure.message}`);
  const { call } = submitted;
  const ended = isOpen(call) ? await engine.calls.follow(principal, call.id, {}) : call;
  const record = ended === undefined ? undefined : toRecord(ended);
  if (record?.state !== 'COMPLETED')
    throw new Error(`${toolName} ended as ${record?.state}: ${record?.error ?? ''}`);
  return {
    result: record.result,
    bytes: JSON.stringify(args).length + JSON.stringify(record.result).length,
  };
}

async function heritageIn(folder: string): Promise<Pack> {
  const file = join(folder, 'heritage.db');
  const storage = sqliteHeritageStorage(file);
  await storage.importSite({ tenant: DEFAULT_TENANT, site: SITE }, LARGE_SITE);
  await storage.close();
  const openStorage = (): Promise<HeritageStorage> => Promise.resolve(sqliteHeritageStorage(file));
  return heritagePack({ openStorage, withSample: false, onlySite: () => SITE, now: () => nodeClock.now() });
}
