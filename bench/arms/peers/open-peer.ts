import type { Peer, PeerSettings } from './peer.ts';

export type PeerName = 'bullmq' | 'graphile_worker';

/** Loads only the package of the peer that is measured. */
const OPEN: Readonly<Record<PeerName, () => Promise<(settings: PeerSettings) => Promise<Peer>>>> = {
  bullmq: async () => (await import('./bullmq.ts')).openBullmq,
  graphile_worker: async () => (await import('./graphile-worker.ts')).openGraphileWorker,
};

export async function openPeer(name: PeerName, settings: PeerSettings): Promise<Peer> {
  const open = await OPEN[name]();
  return await open(settings);
}
