import type { FailureCode, InputAction } from '@patchboard/wire';
import type { StopReason } from '../../core/agent-handle.ts';
import type { DecideOptions } from '../../sdk/decide-options.ts';
import type { ToolCallInputRequest } from '../../sdk/tool-call-input.ts';
import type { ToolCallRecord } from '../../sdk/tool-call-record.ts';
import type { ToolCallSnapshot } from '../../sdk/tool-call-snapshot.ts';

export const CHANNELS = ['progress', 'control', 'monitor'] as const;

/** `progress`: for user interfaces. `control`: approvals and input requests. `monitor`: for operation and debugging. */
export type Channel = (typeof CHANNELS)[number];

export interface AgentEventBase {
  /** Position of the event in the agent's journal. A subscription `since` this value starts with the next event. */
  readonly bookmark: number;
  /** Epoch milliseconds. */
  readonly at: number;
  /** The agent of the event: this agent or, for `control`, a sub-agent. */
  readonly agentId: string;
}

/** One interface per event type, so that `AgentEventOf` selects exactly one. */
interface AboutCall<In extends Channel, Type extends string> {
  readonly channel: In;
  readonly type: Type;
  readonly call: ToolCallSnapshot;
}

interface AboutSubAgent<Type extends string> {
  readonly channel: 'monitor';
  readonly type: Type;
  readonly subAgentId: string;
  /** The call for which the sub-agent works. */
  readonly callId: string;
}

/** An event without bookmark, time and agent. */
export type AgentEventBody =
  | AboutCall<'progress', 'tool:start'>
  | AboutCall<'progress', 'tool:end'>
  | {
      readonly channel: 'progress';
      readonly type: 'tool:error';
      readonly call: ToolCallSnapshot;
      readonly error: string;
    }
  | { readonly channel: 'progress'; readonly type: 'text_delta'; readonly delta: string }
  | {
      readonly channel: 'progress';
      readonly type: 'done';
      readonly reason: StopReason;
      readonly text: string;
    }
  | AboutCall<'control', 'permission_required'>
  | {
      readonly channel: 'control';
      readonly type: 'permission_decided';
      readonly callId: string;
      readonly decision: 'allow' | 'deny';
      readonly decidedBy: string;
      readonly note?: string;
    }
  | {
      readonly channel: 'control';
      readonly type: 'input_required';
      readonly call: ToolCallSnapshot;
      readonly request: ToolCallInputRequest;
    }
  | {
      readonly channel: 'control';
      readonly type: 'input_given';
      readonly callId: string;
      readonly requestId: string;
      readonly action: InputAction;
    }
  | AboutCall<'monitor', 'tool_executed'>
  | {
      readonly channel: 'monitor';
      readonly type: 'tool_custom_event';
      readonly callId: string;
      readonly toolName: string;
      readonly eventType: string;
      readonly data: unknown;
    }
  | { readonly channel: 'monitor'; readonly type: 'state_changed'; readonly state: AgentState }
  | {
      readonly channel: 'monitor';
      readonly type: 'model_replied';
      readonly modelId: string;
      readonly finishReason: string;
      readonly usage: Usage;
    }
  | {
      readonly channel: 'monitor';
      readonly type: 'repeat_noticed';
      readonly toolName: string;
      readonly callId: string;
      readonly times: number;
    }
  | {
      readonly channel: 'monitor';
      readonly type: 'error';
      readonly message: string;
      readonly code: FailureCode;
    }
  | {
      readonly channel: 'monitor';
      readonly type: 'agent_resumed';
      /** Interrupted calls, and whether each may have had an effect. */
      readonly sealed: readonly { readonly callId: string; readonly outcome: 'unknown' | 'not_started' }[];
      /** Calls that still wait for approval or input. */
      readonly waiting: readonly string[];
    }
  | AboutSubAgent<'sub_agent_started'>
  | AboutSubAgent<'sub_agent_ended'>;

/** `working`: a model or a tool is running. `waiting`: at least one call waits for approval or input. */
export type AgentState = 'idle' | 'working' | 'waiting';

export interface Usage {
  readonly inputTokens: number;
  readonly outputTokens: number;
}

type Respond = (decision: 'allow' | 'deny', options?: DecideOptions) => Promise<ToolCallRecord>;

interface InputResponders {
  /** Takes the content; none for a link that was visited. */
  readonly respond: (content?: unknown) => Promise<ToolCallRecord>;
  readonly decline: () => Promise<ToolCallRecord>;
}

type WithRespond<Body> = Body extends { readonly type: 'permission_required' }
  ? Body & { readonly respond: Respond }
  : Body extends { readonly type: 'input_required' }
    ? Body & InputResponders
    : Body;

export type AgentEvent = WithRespond<AgentEventBody> & AgentEventBase;
export type AgentEventType = AgentEvent['type'];
/** The channel of each event type. */
export const CHANNEL_OF: Readonly<Record<AgentEventType, Channel>> = {
  'tool:start': 'progress',
  'tool:end': 'progress',
  'tool:error': 'progress',
  text_delta: 'progress',
  done: 'progress',
  permission_required: 'control',
  permission_decided: 'control',
  input_required: 'control',
  input_given: 'control',
  tool_executed: 'monitor',
  tool_custom_event: 'monitor',
  state_changed: 'monitor',
  model_replied: 'monitor',
  repeat_noticed: 'monitor',
  error: 'monitor',
  agent_resumed: 'monitor',
  sub_agent_started: 'monitor',
  sub_agent_ended: 'monitor',
};

export type AgentEventOf<Type extends AgentEventType> = Extract<AgentEvent, { readonly type: Type }>;
