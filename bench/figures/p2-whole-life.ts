import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { startPostgres, type PostgresService } from '../../packages/patchboard/test/services/postgres.ts';
import type { EngineSettings } from '../arms/in-process.ts';
import type { Life, LifeSettings } from '../arms/lives.ts';
import type { PeerLivesSettings } from '../arms/peer-lives.ts';
import type { PeerName } from '../arms/peers/open-peer.ts';
import { DURABILITY } from '../arms/open-store.ts';
import { runScript } from '../child.ts';
import type { Arm, Figure, FigureOptions } from '../figure.ts';
import { startRedis } from '../redis.ts';
import { comparePaired, median } from '../statistics.ts';
import { withTemporaryFolder } from '../temporary-folder.ts';

const CONCURRENCY = 128;

type LiveSlice = (settings: LifeSettings) => Promise<Life>;

/** P2: a durable call of a server tool from submission to result, in one process. */
export async function wholeLife({ quick, say }: FigureOptions): Promise<Figure> {
  return await withTemporaryFolder(async (folder) => {
    const redis = await startRedis(folder);
    if (redis === null) say('P2: no redis-server here, so BullMQ is left out; apt-get install redis-server');
    const postgres = await startPostgres({ durable: true }).catch((error: unknown) => {
      say(`P2: graphile-worker is left out: ${String(error)}`);
      return null;
    });
    try {
      const runs = await slices({ quick, say }, armsOf(redis?.socket ?? null, postgres));
      return figure(runs);
    } finally {
      await redis?.stop();
      await postgres?.close();
    }
  });
}

function armsOf(
  redisSocket: string | null,
  postgres: PostgresService | null,
): Readonly<Record<string, LiveSlice>> {
  const engine = (groupCommit: boolean): LiveSlice => {
    return async (settings) =>
      await withTemporaryFolder(async (folder) => {
        const data = join(folder, 'data');
        await mkdir(data);
        const own: EngineSettings = { ...settings, folder: data, groupCommit };
        return await runScript<Life>('./arms/in-process.ts', own);
      });
  };
  const peer = (name: PeerName, address: string): LiveSlice => {
    return async (settings) => {
      const own: PeerLivesSettings = { ...settings, peer: name, address };
      return await runScript<Life>('./arms/peer-lives.ts', own);
    };
  };
  return {
    patchboard: engine(true),
    one_tx_per_change: engine(false),
    ...(redisSocket === null ? {} : { bullmq_everysec: peer('bullmq', redisSocket) }),
    ...(postgres === null ? {} : { graphile_worker: peer('graphile_worker', postgres.url) }),
  };
}

type Runs = Readonly<Record<string, readonly Life[]>>;

async function slices(
  { quick, say }: FigureOptions,
  arms: Readonly<Record<string, LiveSlice>>,
): Promise<Runs> {
  const runs: Record<string, Life[]> = Object.fromEntries(Object.keys(arms).map((name) => [name, []]));
  const count = quick ? 1 : 5;
  for (let slice = 0; slice < count; slice += 1) {
    say(`P2: slice ${slice + 1} of ${count}`);
    const order = Object.entries(arms);
    for (const [name, live] of slice % 2 === 0 ? order : order.toReversed()) {
      runs[name]?.push(await live({ concurrency: CONCURRENCY, seconds: quick ? 0.5 : 3 }));
    }
  }
  return runs;
}

function figure(runs: Runs): Figure {
  const { patchboard = [], ...peers } = runs;
  const [first = 'one_tx_per_change'] = ['bullmq_everysec', 'one_tx_per_change'].filter(
    (name) => name in peers,
  );
  const against = comparePaired(rates(patchboard), rates(peers[first] ?? []));
  return {
    id: 'P2',
    work: [
      `One process, no HTTP: submit → recorded → executed → ended, ${CONCURRENCY} at a time; alone: one at a time.`,
      `The ratio is against ${first}. bullmq_everysec may lose the last second; graphile_worker is tuned, keeps no result,`,
      'and syncs each commit; one_tx_per_change is our own engine with a transaction per change.',
    ],
    target: '≥ 8 (÷ BullMQ everysec), ≥ 15 (÷ graphile-worker)',
    durability: DURABILITY,
    ratio: against.ratio,
    spread: { min: against.min, max: against.max },
    arms: Object.fromEntries(
      Object.entries(runs).flatMap(([name, lives]) => [
        [name, armOf(rates(lives), 'per second')],
        [`${name} alone p50`, armOf(alone(lives), 'ms')],
      ]),
    ),
    others: Object.fromEntries(
      Object.entries(peers).flatMap(([name, lives]) => [
        ...(name === first ? [] : [[`patchboard ÷ ${name}`, comparePaired(rates(patchboard), rates(lives))]]),
        [`alone p50 ÷ ${name}`, comparePaired(alone(patchboard), alone(lives))],
      ]),
    ),
  };
}

function rates(lives: readonly Life[]): number[] {
  return lives.map((life) => life.perSecond);
}

function alone(lives: readonly Life[]): number[] {
  return lives.map((life) => life.aloneP50Ms);
}

function armOf(runs: readonly number[], unit: Arm['unit']): Arm {
  return { unit, median: median(runs), runs };
}
