import type { Pack } from '../../core/tools/server-tool.ts';
import { editTools } from './files/edit-tools.ts';
import { readTool } from './files/read-tool.ts';
import { globTool, grepTool } from './files/search-tools.ts';
import { writeTool } from './files/write-tool.ts';
import { WorkspaceRules, type EnclosureFacts } from './rules.ts';
import { bashTools } from './shell/bash-tools.ts';
import { taskTool } from './task-tool.ts';
import { todoTools } from './todo-tools.ts';

/** Tools for files, shell commands and todos. `tasks`: agents run in this process and may start sub-agents. */
export function workspacePack(facts: EnclosureFacts, { tasks }: { tasks: boolean }): Pack {
  const rules = new WorkspaceRules(facts);
  return {
    name: 'workspace',
    tools: [
      readTool(rules),
      writeTool(rules),
      ...editTools(rules),
      globTool(rules),
      grepTool(rules),
      ...bashTools(rules),
      ...todoTools(rules),
      ...(tasks ? [taskTool(rules)] : []),
    ],
  };
}
