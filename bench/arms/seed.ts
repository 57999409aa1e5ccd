// Fills a store with ended calls through its own interface, and brings its index of calls up to date.
import process from 'node:process';
import type { CallState, TimelineEntry } from '../../packages/patchboard/src/core/call/call.ts';
import { callRow, firstCallRow } from '../../packages/patchboard/src/core/ledger/ledger.ts';
import type { NewCall } from '../../packages/patchboard/src/core/ports.ts';
import { nodeDigest } from '../../packages/patchboard/src/runtime/digest.ts';
import { timeOrderedIds } from '../../packages/patchboard/src/runtime/ids.ts';
import { openStore } from '../../packages/patchboard/src/wiring/open-store.ts';
import { aCall } from '../../packages/patchboard/test/support/a-call.ts';
import { silentLog } from '../../packages/patchboard/test/support/an-engine.ts';
import { ECHO_ARGS, ECHO_TOOL } from './bench-pack.ts';
import { settingsFor, type StorePlace } from './bench-settings.ts';
import { indexBehind } from './index-behind.ts';
import { variedCall, type VariedCall } from './varied-call.ts';

export interface SeedSettings extends StorePlace {
  readonly calls: number;
  /** The calls are of these tools in turn, and of several agents, and some have failed. Default: all are equal. */
  readonly tools?: readonly string[];
}

export interface Seeded {
  /** Sample ids, evenly spread over the whole store. */
  readonly sampleIds: readonly string[];
  readonly sampleRuns: readonly string[];
}

const CALLS_PER_RUN = 100;
const SPACING_MS = 20;
/** Some transactions, so that the index is written in large batches. */
const TOGETHER = 4096;
const SAMPLES = 1000;
/** Progress is reported each time so many more are stored. */
const REPORTED = 1_000_000;
const EQUAL: VariedCall = { toolName: ECHO_TOOL, agentId: 'local', traceId: null, failed: null, ranMs: 3 };

const settings = JSON.parse(process.argv[2] ?? '') as SeedSettings;
const began = Date.now() - settings.calls * SPACING_MS;
let now = began;
const ids = timeOrderedIds({ now: () => now });
const argsJson = JSON.stringify(ECHO_ARGS);
const argsHash = nodeDigest.sha256(argsJson);

const store = await openStore(settingsFor(settings), silentLog);
const index = await indexBehind(store);
const sampleIds: string[] = [];
const sampleRuns: string[] = [];
const sampleEvery = Math.max(1, Math.floor(settings.calls / SAMPLES));
for (let from = 0; from < settings.calls; from += TOGETHER) {
  const count = Math.min(TOGETHER, settings.calls - from);
  const records = Array.from({ length: count }, (_, index) => endedCall(from + index));
  await Promise.all(records.map(async (record) => await store.insertCall(record)));
  await index.follow();
  if (Math.floor((from + count) / REPORTED) > Math.floor(from / REPORTED))
    process.stderr.write(`  ${(from + count).toLocaleString('en')} stored\n`);
}
await index.finish();
await store.close();
const seeded: Seeded = { sampleIds, sampleRuns };
process.stdout.write(`${JSON.stringify(seeded)}\n`);

function endedCall(index: number): NewCall {
  now = began + index * SPACING_MS;
  const runNumber = Math.floor(index / CALLS_PER_RUN);
  const { failed, ranMs, ...varied } =
    settings.tools === undefined ? EQUAL : variedCall(index, runNumber, settings.tools);
  const state: CallState = failed ?? { name: 'COMPLETED', resultJson: argsJson, resultDigest: null };
  const code = 'error' in state ? { code: state.error.code } : {};
  const timeline: TimelineEntry[] = [
    { state: 'PENDING', at: now },
    { state: 'EXECUTING', at: now, attempt: 1 },
    { state: state.name, at: now + ranMs, ...code },
  ];
  const runId = `run_seed_${runNumber}`;
  const call = aCall({
    id: ids.next('tc_'),
    runId,
    ...varied,
    argsJson,
    createdAt: now,
    version: 2,
    state,
    timeline,
  });
  if (index % sampleEvery === 0) {
    sampleIds.push(call.id);
    sampleRuns.push(runId);
  }
  const entries = timeline.map((entry, place) =>
    place === 0
      ? firstCallRow(call, entry, argsHash)
      : callRow(call, entry, entry.state === 'COMPLETED' ? argsHash : undefined),
  );
  const { tenant, agentId } = call;
  const run = { id: runId, tenant, agentId, createdAt: now, cancelledAt: null };
  return { call, run, idempotency: null, entries };
}
