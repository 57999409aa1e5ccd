// The engine over its store in one process; HTTP is wired but nobody uses it. How many calls live their whole life
// per second?
import process from 'node:process';
import { resolveSettings } from '../../packages/patchboard/src/cli/settings.ts';
import { resolveLimits } from '../../packages/patchboard/src/core/limits.ts';
import { startPlatform } from '../../packages/patchboard/src/platform.ts';
import { aPrincipal, aRequest, silentLog } from '../../packages/patchboard/test/support/an-engine.ts';
import { median } from '../statistics.ts';
import { BENCH_PACK, ECHO_ARGS, ECHO_TOOL } from './bench-pack.ts';
import { openStore } from './open-store.ts';

export interface LifeSettings {
  readonly folder: string;
  readonly groupCommit: boolean;
  readonly concurrency: number;
  readonly seconds: number;
}

export interface Life {
  readonly perSecond: number;
  /** One call at a time. */
  readonly aloneP50Ms: number;
}

const principal = aPrincipal();
const settings = JSON.parse(process.argv[2] ?? '') as LifeSettings;
const platform = await startPlatform(
  {
    ...resolveSettings({ PORT: '0', PATCHBOARD_DATA: settings.folder }, {}),
    // Every call that is submitted at once may run at once.
    limits: resolveLimits({ concurrencyServer: settings.concurrency }),
  },
  silentLog,
  { packs: [BENCH_PACK], openStore: (file) => openStore(file, settings.groupCommit) },
);

const { engine } = platform;
const waiting = new Map<string, () => void>();
const endedEarly = new Set<string>();
engine.onEnded((call) => {
  const wake = waiting.get(call.id);
  if (wake === undefined) endedEarly.add(call.id);
  else wake();
  waiting.delete(call.id);
});

await together(Math.min(1, settings.seconds)); // warm
const life: Life = {
  perSecond: await together(settings.seconds),
  aloneP50Ms: await alone(settings.seconds / 2),
};
await platform.close();
process.stdout.write(`${JSON.stringify(life)}\n`);

async function together(seconds: number): Promise<number> {
  const began = performance.now();
  const end = began + seconds * 1000;
  let ended = 0;
  const lines = Array.from({ length: settings.concurrency }, async (_, line) => {
    while (performance.now() < end) {
      await liveOnce(`run_${line}`);
      ended += 1;
    }
  });
  await Promise.all(lines);
  return (ended * 1000) / (performance.now() - began);
}

async function alone(seconds: number): Promise<number> {
  const end = performance.now() + seconds * 1000;
  const times: number[] = [];
  while (performance.now() < end) {
    const began = performance.now();
    await liveOnce('run_alone');
    times.push(performance.now() - began);
  }
  return median(times);
}

/** From the request to the durable result. */
async function liveOnce(runId: string): Promise<void> {
  const request = aRequest({ toolName: ECHO_TOOL, runId, args: ECHO_ARGS });
  const submitted = await engine.submit(request, principal);
  if (submitted.kind !== 'accepted') throw new Error(`not accepted: ${JSON.stringify(submitted)}`);
  const { id } = submitted.call;
  if (endedEarly.delete(id)) return;
  await new Promise<void>((resolve) => waiting.set(id, resolve));
}
