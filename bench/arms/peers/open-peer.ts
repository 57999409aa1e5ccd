import type { Peer, PeerSettings } from './peer.ts';

export type PeerName = 'bullmq' | 'graphile_worker' | 'pg_boss' | 'dbos' | 'restate';

/** Loads only the package of the peer that is measured. */
const OPEN: Readonly<Record<PeerName, () => Promise<(settings: PeerSettings) => Promise<Peer>>>> = {
  bullmq: async () => (await import('./bullmq.ts')).openBullmq,
  graphile_worker: async () => (await import('./graphile-worker.ts')).openGraphileWorker,
  pg_boss: async () => (await import('./pg-boss.ts')).openPgBoss,
  dbos: async () => (await import('./dbos.ts')).openDbos,
  restate: async () => (await import('./restate.ts')).openRestate,
};

export async function openPeer(name: PeerName, settings: PeerSettings): Promise<Peer> {
  const open = await OPEN[name]();
  return await open(settings);
}
