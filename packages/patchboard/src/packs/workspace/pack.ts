import type { Pack } from '../../core/server-tool.ts';
import { editTools } from './files/edit-tools.ts';
import { readTool } from './files/read-tool.ts';
import { globTool, grepTool } from './files/search-tools.ts';
import { writeTool } from './files/write-tool.ts';
import { WorkspaceRules, type EnclosureFacts } from './rules.ts';
import { bashTools } from './shell/bash-tools.ts';
import { todoTools } from './todo-tools.ts';

/** What an agent needs to work on a machine: files, a shell and a list of what is to be done. */
export function workspacePack(facts: EnclosureFacts): Pack {
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
    ],
  };
}
