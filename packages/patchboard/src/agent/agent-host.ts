import type { Engine } from '../core/engine.ts';
import type { AgentHooks } from '../sdk/agent-hooks.ts';
import type { JournalStore } from '../core/journals.ts';
import type { Clock, Ids, Log } from '../core/ports.ts';
import type { Principal } from '../core/access/principal.ts';
import type { ActiveWork } from './active-work.ts';

/** The services that an agent needs: `board.host`. Embedding programs only pass it on; its members are not part of the API. */
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
  /** @internal AgentHooks of the whole board. The agent itself calls only their `messagesChanged`. */
  readonly hooks: readonly AgentHooks[];
  /** @internal The agent waits no longer than this for a hook. */
  readonly hookTimeoutMs: number;
  /** @internal */
  readonly activeWork: ActiveWork;
  /** @internal Returns the principal of an agent or of an operator who decides. */
  principal(name: string): Principal;
  /** @internal Returns the value without what must not be stored. */
  redact(value: unknown): unknown;
}
