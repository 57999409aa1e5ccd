import type { Engine } from '../core/engine.ts';
import type { Hooks } from '../core/steps/hooks.ts';
import type { JournalStore } from '../core/journals.ts';
import type { Clock, Ids, Log } from '../core/ports.ts';
import type { Principal } from '../core/access/principal.ts';
import type { Workers } from './workers.ts';

/** What an agent needs of the board on which it works. */
export interface AgentHost {
  readonly engine: Engine;
  readonly store: JournalStore;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  /** Of the whole board; of these an agent itself calls `messagesChanged`. */
  readonly hooks: readonly Hooks[];
  /** A hook that takes longer is not waited for. */
  readonly hookTimeoutMs: number;
  readonly workers: Workers;
  /** As whom an agent asks, and as whom somebody decides. */
  principal(name: string): Principal;
  /** Without what is not to be kept. */
  redact(value: unknown): unknown;
}
