import type { LedgerDraft } from '../ledger/ledger.ts';
import type { Peers } from '../peers.ts';
import type { Clock, Digest, Log, Store } from '../ports.ts';
import type { RegisteredTool } from '../tools/registered-tool.ts';
import type { Approval, Call } from './call.ts';
import type { InputRound } from './input.ts';
import type { LiveCall } from './live-call.ts';
import type { OfferedInputs } from './offered-inputs.ts';
import type { Redactor } from './redaction.ts';

export interface LifecycleParts {
  readonly store: Store;
  readonly peers: Peers;
  readonly clock: Clock;
  readonly log: Log;
  readonly digest: Digest;
  readonly redactor: Redactor;
  /** The tool that a call was submitted with, if it is still registered. */
  readonly toolOf: (call: Call) => RegisteredTool | undefined;
  /** Called before `ended` and `dropped`, so that the provider stops working on the call. `reason`: see `Provider.cancel`. */
  readonly cancelled: (live: LiveCall, reason: string | null, before: Call) => void;
  /** Called once for each call, after its end state is durable. */
  readonly ended: (call: Call) => void;
  /** Called with a call whose row is gone from the store: this process forgets it. */
  readonly dropped: (call: Call) => void;
  /** Called with the current row of a call that another node moved: it manages the call now, or has ended it. */
  readonly movedElsewhere: (call: Call) => void;
  /** Called with a call of this node when another node has recorded a response to its held input request. */
  readonly respondedElsewhere: (live: LiveCall) => void;
  /** Called with a pinned call of this node when another node has recorded an approval or a response that lets it go on. */
  readonly goesOn: (live: LiveCall) => void;
}

/** Changes that are committed together with a move. */
export interface MoveExtra {
  readonly approval?: Approval;
  /** The arguments as an operator edited them. */
  readonly argsJson?: string;
  /** The input requests of the call, and their responses. */
  readonly inputs?: readonly InputRound[];
  /** The responses that came with the request and are left. */
  readonly offered?: OfferedInputs;
  /** See `Call.workspace`. */
  readonly workspace?: 'new';
  /** Ledger rows besides those of the moves. */
  readonly rows?: (call: Call) => readonly LedgerDraft[];
  /** Without a new state: the call becomes one of this node, with the next version. */
  readonly claims?: boolean;
  /** A borrowed call stays with the node that holds it. */
  readonly keepsHolder?: boolean;
}
