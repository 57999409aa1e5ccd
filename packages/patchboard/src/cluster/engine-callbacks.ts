import type { TransientEvent, WatchedCalls } from '../core/peers.ts';
import type { Refresh } from './reconciliation.ts';

export type Room = (tenant: string | null) => number;
export type HasTool = (tenant: string, toolName: string, toolVersion: string) => boolean;

/** What the engine has registered with its peers, see `Peers`. Until then a notification has no effect. */
export class EngineCallbacks {
  refresh: Refresh = () => {};
  watched: () => WatchedCalls = () => ({ held: [], awaited: [] });
  room: Room = () => 0;
  hasTool: HasTool = () => false;
  closeSession: (session: string) => void = () => {};
  endRun: (tenant: string, runId: string) => void = () => {};
  spent: (bucket: string, tokens: number) => void = () => {};
  signal: (topic: string, body: unknown) => void = () => {};
  publish: (event: TransientEvent) => void = () => {};
  followed: () => Iterable<string> = () => [];
}
