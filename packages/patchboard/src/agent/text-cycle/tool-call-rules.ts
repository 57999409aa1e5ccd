import { EMPTY_AGENT_POLICY, type AgentPolicy } from '../../core/access/policy/document.ts';
import type { AgentHooks } from '../../sdk/agent-hooks.ts';
import type { RegisteredTool } from '../../core/tools/registered-tool.ts';
import { originOf } from '../../protocols/tool-module.ts';
import { protocolOf } from '../../protocols/protocols.ts';
import { isToolEnabled, type ToolCallConfig } from '../../protocols/tool-call-config.ts';
import type { Dialect } from '../dialects/dialect.ts';
import { nativeDialect } from '../dialects/native-dialect.ts';
import { textDialect } from '../dialects/text-dialect.ts';

/** Whether a config enables a tool. */
export function isSwitchedOn(config: ToolCallConfig, tool: RegisteredTool): boolean {
  return isToolEnabled(config, tool.name, originOf(tool)?.module);
}

/** A permission that denies a tool which the agent was not given. */
export const NOT_GIVEN: AgentPolicy = { ...EMPTY_AGENT_POLICY, defaultToolEnabled: false };

/** Requires approval of every call, so that the decision is recorded in the ledger. */
const CONFIRM: AgentHooks = {
  preToolUse: () => ({ decision: 'ask', reason: 'every call is to be confirmed' }),
};

export function confirmHooks({ requireConfirmation }: ToolCallConfig): readonly AgentHooks[] {
  return requireConfirmation ? [CONFIRM] : [];
}

/** With tool calls disabled, a reply is plain text even if it contains a request. */
export function dialectOf({ enabled, protocol }: ToolCallConfig): Dialect {
  const configured = protocolOf(protocol);
  return enabled && configured.replies === 'text' ? textDialect(configured) : nativeDialect;
}
