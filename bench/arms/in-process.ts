// The engine and its store in one process, without HTTP requests. Measures complete calls per second.
import process from 'node:process';
import { resolveLimits } from '../../packages/patchboard/src/core/limits.ts';
import { startPlatform } from '../../packages/patchboard/src/wiring/platform.ts';
import { aPrincipal, aRequest, silentLog } from '../../packages/patchboard/test/support/an-engine.ts';
import { BENCH_PACK, ECHO_ARGS, ECHO_TOOL } from './bench-pack.ts';
import { settingsFor, type StorePlace } from './bench-settings.ts';
import { Endings, measureLives, type LifeSettings } from './lives.ts';
import { openStore } from './open-store.ts';

export interface EngineSettings extends LifeSettings, StorePlace {
  readonly groupCommit: boolean;
}

const principal = aPrincipal();
const settings = JSON.parse(process.argv[2] ?? '') as EngineSettings;
const { databaseUrl } = settings;
const platform = await startPlatform(
  {
    ...settingsFor(settings),
    // All concurrent calls may run at once.
    limits: resolveLimits({ concurrencyServer: settings.concurrency }),
  },
  silentLog,
  {
    packs: [BENCH_PACK],
    ...(databaseUrl === undefined
      ? { openStore: (file: string) => openStore(file, settings.groupCommit) }
      : {}),
  },
);

const { engine } = platform;
const endings = new Endings();
engine.onEnded((call) => endings.ended(call.id));

/** Time from the request to the durable result. */
await measureLives(settings, async (line) => {
  const request = aRequest({ toolName: ECHO_TOOL, runId: `run_${line}`, args: ECHO_ARGS });
  const submitted = await engine.submit(request, principal);
  if (submitted.kind !== 'accepted') throw new Error(`not accepted: ${JSON.stringify(submitted)}`);
  await endings.of(submitted.call.id);
});
await platform.close();
