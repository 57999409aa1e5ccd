// A peer and the code that calls it in one process, without HTTP requests of our own. Measures complete calls per second.
import process from 'node:process';
import { measureLives, type LifeSettings } from './lives.ts';
import { openPeer, type PeerName } from './peers/open-peer.ts';
import type { PeerSettings } from './peers/peer.ts';

export interface PeerLivesSettings extends LifeSettings, PeerSettings {
  readonly peer: PeerName;
}

const settings = JSON.parse(process.argv[2] ?? '') as PeerLivesSettings;
const peer = await openPeer(settings.peer, settings);
await measureLives(settings, async () => await peer.runOnce());
await peer.close();
