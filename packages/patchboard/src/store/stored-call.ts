import type { SandboxName } from '@patchboard/wire';
import {
  attemptRunner,
  type Approval,
  type Call,
  type CallState,
  type TimelineEntry,
} from '../core/call/call.ts';
import type { AcceptedInput } from '../core/call/input-kinds.ts';
import type { InputRound } from '../core/call/input.ts';
import type { OfferedInputs } from '../core/call/offered-inputs.ts';
import { stateNameOf } from './state-codes.ts';

/** The columns of a call in which both SQL stores are alike. A new one is null for calls that were recorded before it. */
export interface CallColumns {
  readonly id: string;
  readonly created_at: number;
  readonly tenant: string;
  readonly run_id: string;
  readonly agent_id: string;
  readonly tool_name: string;
  readonly tool_version: string;
  readonly source: Call['source'];
  readonly timeout_ms: number;
  readonly decision: string;
  readonly client_id: string | null;
  readonly target: string | null;
  readonly trace_id: string | null;
  readonly span_id: string | null;
  readonly origin: string | null;
  readonly replay_of: string | null;
  readonly parent_call_id: string | null;
  readonly fence: string | null;
  readonly args: string;
  readonly version: number;
  readonly state: number;
  /** JSON that `mutableJson` wrote. The column keeps its old name, because a released migration is never changed. */
  readonly tail: string;
  readonly result: string | null;
}

type Detail<State> = State extends CallState ? Omit<State, 'name' | 'resultJson'> : never;

/** The mutable parts of a call, except the columns that are used in queries and the result. */
interface MutablePart {
  readonly state: Detail<CallState>;
  readonly approval: Approval | null;
  /** Absent if false. */
  readonly argsRedacted?: true;
  /** Absent if the tool uses no sandbox. */
  readonly sandbox?: SandboxName;
  /** Absent if true. */
  readonly countsInRun?: false;
  /** Absent if true. */
  readonly acceptsInput?: AcceptedInput;
  /** Absent if there are none. */
  readonly inputs?: readonly InputRound[];
  /** Absent if there are none. */
  readonly offered?: OfferedInputs;
  /** Absent if false. */
  readonly pinned?: true;
  /** Absent unless the workspace of the run moved to another node. */
  readonly workspace?: 'new';
  readonly timeline: readonly TimelineEntry[];
}

export function mutableJson(call: Call): string {
  const { state, approval, timeline, argsRedacted, sandbox, countsInRun, acceptsInput, inputs } = call;
  const { offered, pinned, workspace } = call;
  const rest = {
    ...(argsRedacted ? { argsRedacted } : {}),
    ...(sandbox === null ? {} : { sandbox }),
    ...(countsInRun ? {} : { countsInRun }),
    ...(acceptsInput === true ? {} : { acceptsInput }),
    ...(inputs.length === 0 ? {} : { inputs }),
    ...(offered === undefined ? {} : { offered }),
    ...(pinned === undefined ? {} : { pinned }),
    ...(workspace === undefined ? {} : { workspace }),
  };
  const mutable: MutablePart = { state: detailOf(state), approval, timeline, ...rest };
  return JSON.stringify(mutable);
}

/** The members of a call that `mutableJson` stores, with its state and result. */
export type MutableMembers = Pick<
  Call,
  | 'countsInRun'
  | 'argsRedacted'
  | 'sandbox'
  | 'acceptsInput'
  | 'state'
  | 'approval'
  | 'inputs'
  | 'offered'
  | 'pinned'
  | 'workspace'
  | 'timeline'
>;

/** Reads what `mutableJson` wrote, with the columns of the state and the result. */
export function mutableMembers(json: string, stateCode: number, result: string | null): MutableMembers {
  const mutable = JSON.parse(json) as MutablePart;
  const name = stateNameOf(stateCode);
  const state =
    name === 'COMPLETED' ? { name, resultJson: result, ...mutable.state } : { name, ...mutable.state };
  return {
    countsInRun: mutable.countsInRun !== false,
    argsRedacted: mutable.argsRedacted === true,
    sandbox: mutable.sandbox ?? null,
    acceptsInput: mutable.acceptsInput ?? true,
    // `mutableJson` wrote it from a state of that name.
    state: state as CallState,
    approval: mutable.approval,
    inputs: mutable.inputs ?? [],
    ...(mutable.offered === undefined ? {} : { offered: mutable.offered }),
    ...(mutable.pinned === undefined ? {} : { pinned: mutable.pinned }),
    ...(mutable.workspace === undefined ? {} : { workspace: mutable.workspace }),
    timeline: mutable.timeline,
  };
}

export function resultOf({ state }: Call): string | null {
  return state.name === 'COMPLETED' ? state.resultJson : null;
}

function detailOf(state: CallState): Detail<CallState> {
  switch (state.name) {
    case 'PENDING':
    case 'APPROVAL_REQUIRED':
    case 'APPROVED':
      return { deadlineAt: state.deadlineAt };
    case 'EXECUTING':
      return {
        deadlineAt: state.deadlineAt,
        attempt: state.attempt,
        cause: state.cause,
        ...attemptRunner(state),
      };
    case 'INPUT_REQUIRED':
      return {
        deadlineAt: state.deadlineAt,
        attempt: state.attempt,
        held: state.held,
        ...attemptRunner(state),
      };
    case 'COMPLETED':
      return { resultDigest: state.resultDigest };
    default:
      return { error: state.error, resultDigest: state.resultDigest };
  }
}
