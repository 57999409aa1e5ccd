import { matchesGlob } from '../core/access/policy/glob.ts';
import type { RegisteredTool } from '../core/tools/registered-tool.ts';
import type { ToolCallConfig } from '../protocols/tool-call-config.ts';
import { isSwitchedOn } from './text-cycle/tool-call-rules.ts';

/** Selects the tools offered to an agent, by patterns or by the switches of a chat app. Stored in the agent's journal. */
export type ToolSelection =
  | { readonly kind: 'patterns'; readonly patterns: readonly string[] }
  | { readonly kind: 'switches'; readonly config: ToolCallConfig };

/** A tool is offered only if every selection contains it. */
export function isOffered(offers: readonly ToolSelection[], tool: RegisteredTool): boolean {
  return offers.every((offer) =>
    offer.kind === 'patterns'
      ? offer.patterns.some((pattern) => matchesGlob(pattern, tool.name))
      : isSwitchedOn(offer.config, tool),
  );
}
