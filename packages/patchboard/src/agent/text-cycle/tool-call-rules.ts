import { EMPTY_AGENT_POLICY, type AgentPolicy } from '../../core/access/policy/document.ts';
import type { AgentHooks } from '../../sdk/agent-hooks.ts';
import type { RegisteredTool } from '../../core/tools/registered-tool.ts';
import { originOf } from '../../protocols/tool-module.ts';
import { protocolOf } from '../../protocols/protocols.ts';
import { isToolEnabled, type ToolCallConfig } from '../../protocols/tool-call-config.ts';
import type { Dialect } from '../dialects/dialect.ts';
import { nativeDialect } from '../dialects/native-dialect.ts';
import { textDialect } from '../dialects/text-dialect.ts';

/** What a config means for one tool. */
export function isSwitchedOn(config: ToolCallConfig, tool: RegisteredTool): boolean {
  return isToolEnabled(config, tool.name, originOf(tool)?.module);
}

/** The permission under which an agent asks for a tool that it was not given. */
export const NOT_GIVEN: AgentPolicy = { ...EMPTY_AGENT_POLICY, defaultToolEnabled: false };

/** The engine asks, and what the answer was stands in the ledger. */
const CONFIRM: AgentHooks = {
  preToolUse: () => ({ decision: 'ask', reason: 'every call is to be confirmed' }),
};

export function confirmHooks({ requireConfirmation }: ToolCallConfig): readonly AgentHooks[] {
  return requireConfirmation ? [CONFIRM] : [];
}

/** With tool calls switched off a reply is words, also where it looks like a request. */
export function dialectOf({ enabled, protocol }: ToolCallConfig): Dialect {
  const spoken = protocolOf(protocol);
  return enabled && spoken.replies === 'text' ? textDialect(spoken) : nativeDialect;
}
