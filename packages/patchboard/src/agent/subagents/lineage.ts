import type { AgentHooks } from '../../sdk/agent-hooks.ts';
import type { AgentPolicy } from '../../core/access/policy/document.ts';
import type { Budget } from '../loop/budget.ts';
import type { AgentEventBody } from '../events/events.ts';
import type { ToolSelection } from '../tool-selection.ts';
import type { ResumeState } from '../memory/resume-state.ts';

/** Where an agent comes from. One that an embedder makes has none. */
export type Origin =
  | { readonly kind: 'spawned'; readonly lineage: Lineage }
  | { readonly kind: 'resumed'; readonly resumeState: ResumeState };

/** What a sub-agent has of those above it. */
export interface Lineage {
  readonly parentCallId: string;
  readonly depth: number;
  readonly permissions: readonly AgentPolicy[];
  readonly hooks: readonly AgentHooks[];
  readonly offers: readonly ToolSelection[];
  readonly budget: Budget;
  /** Those above it hear its questions, and may decide on its calls. */
  passOn(event: AgentEventBody, agentId: string): void;
  adopt(agentId: string): void;
}
