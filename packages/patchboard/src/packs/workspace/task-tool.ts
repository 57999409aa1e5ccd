import { reason } from '@patchboard/wire';
import { failure, ToolFailure } from '../../core/failures.ts';
import type { ServerTool } from '../../core/tools/server-tool.ts';
import { argumentsOf, object, renamed, TEXT } from './contract.ts';
import type { WorkspaceRules } from './rules.ts';

interface TaskArguments {
  readonly task: string;
  readonly context?: string;
}

const TIMEOUT_MS = 3_600_000;
const LONG_TEXT = { type: 'string', minLength: 1, maxLength: 200_000 };

/** Only for agents of this process: the server itself has no model for agents on the network. */
export function taskTool(rules: WorkspaceRules): ServerTool {
  return rules.keeps(
    {
      name: 'task_run',
      description:
        'Give a task to a sub-agent and wait for its final reply. It works in this workspace, has your permissions, and spends your budget.',
      inputSchema: object(
        {
          task: { ...LONG_TEXT, description: 'the complete task' },
          context: { ...LONG_TEXT, description: 'further information for the task' },
        },
        ['task'],
      ),
      outputSchema: object({ agentId: TEXT, text: TEXT, reason: TEXT, calls: { type: 'integer' } }, [
        'agentId',
        'text',
        'reason',
        'calls',
      ]),
      timeoutMs: TIMEOUT_MS,
      spell: (args) => renamed(args, { prompt: 'task' }),
      execute: async (args, { agent, callId, signal }) => {
        if (agent === undefined) throw new ToolFailure(failure('tool_failed', reason('task_without_agent')));
        const { task, context } = argumentsOf<TaskArguments>(args);
        const prompt = context === undefined ? task : `${task}\n\n${context}`;
        return await agent.spawn({ prompt, callId, signal });
      },
    },
    { readonly: false, destructive: false, idempotent: false },
  );
}
