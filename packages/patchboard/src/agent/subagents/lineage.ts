import type { AgentHooks } from '../../sdk/agent-hooks.ts';
import type { AgentPolicy } from '../../core/access/policy/document.ts';
import type { Budget } from '../loop/budget.ts';
import type { AgentEventBody } from '../events/events.ts';
import type { ToolSelection } from '../tool-selection.ts';
import type { ResumeState } from '../memory/resume-state.ts';

/** The origin of an agent that was not created by the embedding program. */
export type Origin =
  | { readonly kind: 'spawned'; readonly lineage: Lineage }
  | { readonly kind: 'resumed'; readonly resumeState: ResumeState };

/** What a sub-agent inherits from its parent. */
export interface Lineage {
  readonly parentCallId: string;
  readonly depth: number;
  readonly permissions: readonly AgentPolicy[];
  readonly hooks: readonly AgentHooks[];
  readonly offers: readonly ToolSelection[];
  readonly budget: Budget;
  /** Whether the listeners of the topmost agent can respond to input requests. */
  acceptsInput(): boolean;
  /** Forwards an event of an approval or an input request to the parent, where the listeners are. */
  passOn(event: AgentEventBody, agentId: string): void;
  adopt(agentId: string): void;
}
