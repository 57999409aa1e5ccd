import type { Engine } from '../core/engine.ts';
import type { AgentHooks } from '../sdk/agent-hooks.ts';
import type { JournalStore } from '../core/journals.ts';
import type { Clock, Ids, Log } from '../core/ports.ts';
import type { Principal } from '../core/access/principal.ts';
import type { ActiveWork } from './active-work.ts';

/** What an agent works on: `board.host`. An embedder hands it on; its members are not part of the API. */
export interface AgentHost {
  /** @internal */
  readonly engine: Engine;
  /** @internal */
  readonly store: JournalStore;
  /** @internal */
  readonly clock: Clock;
  /** @internal */
  readonly ids: Ids;
  /** @internal */
  readonly log: Log;
  /** @internal Of the whole board; of these an agent itself calls `messagesChanged`. */
  readonly hooks: readonly AgentHooks[];
  /** @internal A hook that takes longer is not waited for. */
  readonly hookTimeoutMs: number;
  /** @internal */
  readonly activeWork: ActiveWork;
  /** @internal As whom an agent asks, and as whom somebody decides. */
  principal(name: string): Principal;
  /** @internal Without what is not to be kept. */
  redact(value: unknown): unknown;
}
