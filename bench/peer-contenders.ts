import type { Life } from './arms/lives.ts';
import type { PeerLivesSettings } from './arms/peer-lives.ts';
import type { PeerServerSettings } from './arms/peer-server.ts';
import type { PeerName } from './arms/peers/open-peer.ts';
import { runScript, startServer } from './child.ts';
import type { PeerContender } from './contenders.ts';
import type { Databases } from './databases.ts';
import type { ComparedPeer } from './figure.ts';
import { durabilityText } from './outcome.ts';
import type { RedisService } from './redis.ts';
import type { RestateService } from './restate.ts';

export const BULLMQ = 'BullMQ';
export const GRAPHILE_WORKER = 'graphile-worker';

type PeerAddress = Pick<PeerServerSettings, 'address' | 'ingress' | 'keepsResults'>;

/** Where a peer stores. */
interface PeerPlace {
  readonly pid: number;
  /** Provides an empty store for the duration of `use`. */
  withAddress<T>(use: (address: PeerAddress) => Promise<T>): Promise<T>;
  /** Provides an empty store until the server that stores ends. */
  address(): Promise<PeerAddress>;
}

/** A queue in Redis, which appends each change to a file and syncs it once a second. */
export function bullmq({ pid, socket }: RedisService): PeerContender {
  const address: PeerAddress = { address: socket };
  const peer: ComparedPeer = { name: BULLMQ, durability: 'every_second', note: 'keeps results' };
  return peerContender('bullmq', 'Redis', peer, {
    pid,
    withAddress: async (use) => await use(address),
    address: () => Promise.resolve(address),
  });
}

/** It deletes a job at its end. With `keepsResults` the task inserts its result into a table of its own. */
export function graphileWorker(databases: Databases, keepsResults: boolean = false): PeerContender {
  const note = keepsResults ? 'its task stores the result' : 'keeps no results';
  const peer: ComparedPeer = { name: GRAPHILE_WORKER, durability: 'synced', note };
  return peerContender('graphile_worker', 'PostgreSQL', peer, onPostgres(databases, { keepsResults }));
}

export function pgBoss(databases: Databases): PeerContender {
  const peer: ComparedPeer = { name: 'pg-boss', durability: 'synced', note: 'keeps results' };
  return peerContender('pg_boss', 'PostgreSQL', peer, onPostgres(databases));
}

export function dbos(databases: Databases): PeerContender {
  const note = 'keeps the results of the step and of the workflow';
  const peer: ComparedPeer = { name: 'DBOS', durability: 'synced', note };
  return peerContender('dbos', 'PostgreSQL', peer, onPostgres(databases));
}

export function restateServer({ pid, admin, ingress }: RestateService): PeerContender {
  const address: PeerAddress = { address: admin, ingress };
  const peer: ComparedPeer = {
    name: 'Restate (own log, over HTTP)',
    durability: 'synced',
    note: 'keeps results for a day',
  };
  return peerContender('restate', 'its own log', peer, {
    pid,
    withAddress: async (use) => await use(address),
    address: () => Promise.resolve(address),
  });
}

function onPostgres(databases: Databases, more: Partial<PeerAddress> = {}): PeerPlace {
  return {
    pid: databases.pid,
    withAddress: async (use) =>
      await databases.withDatabase(async (url) => await use({ ...more, address: url })),
    address: async () => ({ ...more, address: await databases.create() }),
  };
}

function peerContender(arm: PeerName, where: string, peer: ComparedPeer, place: PeerPlace): PeerContender {
  return {
    name: peer.name,
    durability: `${where}, ${durabilityText(peer.durability)}; ${peer.note}`,
    peer,
    storePid: place.pid,
    hasReceipts: false,
    measureLives: async (settings) =>
      await place.withAddress(async (address) => {
        const own: PeerLivesSettings = { ...settings, ...address, peer: arm, serverPid: place.pid };
        return await runScript<Life>('./arms/peer-lives.ts', own);
      }),
    serve: async (_folder, concurrency) => {
      const own: PeerServerSettings = { ...(await place.address()), peer: arm, concurrency };
      return { ...(await startServer('./arms/peer-server.ts', own)), headers: {} };
    },
  };
}
