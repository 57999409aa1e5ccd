import type { FailureCode } from '@patchboard/wire';
import type { StopReason } from '../../core/agent-handle.ts';
import type { DecideOptions } from '../../sdk/decide-options.ts';
import type { ToolCallRecord } from '../../sdk/tool-call-record.ts';
import type { ToolCallSnapshot } from '../../sdk/tool-call-snapshot.ts';

export const CHANNELS = ['progress', 'control', 'monitor'] as const;

/** `progress`: for whoever watches. `control`: for whoever decides. `monitor`: for whoever runs it. */
export type Channel = (typeof CHANNELS)[number];

export interface AgentEventBase {
  /** Where it stands among this agent's events; whoever starts from it sees what came after. */
  readonly bookmark: number;
  /** Epoch milliseconds. */
  readonly at: number;
  /** Whose it is: the agent's own, or for `control` a sub-agent's. */
  readonly agentId: string;
}

/** One type each, so that whoever names one type gets exactly that. */
interface AboutCall<In extends Channel, Type extends string> {
  readonly channel: In;
  readonly type: Type;
  readonly call: ToolCallSnapshot;
}

interface AboutSubAgent<Type extends string> {
  readonly channel: 'monitor';
  readonly type: Type;
  readonly subAgentId: string;
  /** The call that is its task. */
  readonly callId: string;
}

/** What happened, without where it stands. */
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
      /** Calls that were interrupted, and what is known of each. */
      readonly sealed: readonly { readonly callId: string; readonly outcome: 'unknown' | 'not_started' }[];
      /** Calls that still wait for a decision. */
      readonly waiting: readonly string[];
    }
  | AboutSubAgent<'sub_agent_started'>
  | AboutSubAgent<'sub_agent_ended'>;

/** Working: a model or a tool is. Waiting: nothing goes on before somebody decides. */
export type AgentState = 'idle' | 'working' | 'waiting';

export interface Usage {
  readonly inputTokens: number;
  readonly outputTokens: number;
}

type Respond = (decision: 'allow' | 'deny', options?: DecideOptions) => Promise<ToolCallRecord>;

type WithRespond<Body> = Body extends { readonly type: 'permission_required' }
  ? Body & { readonly respond: Respond }
  : Body;

export type AgentEvent = WithRespond<AgentEventBody> & AgentEventBase;
export type AgentEventType = AgentEvent['type'];
/** Every type, with its channel. */
export const CHANNEL_OF: Readonly<Record<AgentEventType, Channel>> = {
  'tool:start': 'progress',
  'tool:end': 'progress',
  'tool:error': 'progress',
  text_delta: 'progress',
  done: 'progress',
  permission_required: 'control',
  permission_decided: 'control',
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
