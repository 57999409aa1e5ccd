import type { ServerTool } from '../../core/tools/server-tool.ts';
import { servicesOf } from '../../core/workspaces.ts';
import { argumentsOf, object } from './contract.ts';
import type { WorkspaceRules } from './rules.ts';
import type { Todo } from './services.ts';

const MAX_TODOS = 200;
const TODO = object(
  {
    id: { type: 'string', minLength: 1, maxLength: 64 },
    content: { type: 'string', minLength: 1, maxLength: 2000 },
    status: { enum: ['pending', 'in_progress', 'completed'] },
  },
  ['id', 'content', 'status'],
);
const TODOS = object({ todos: { type: 'array', items: TODO, maxItems: MAX_TODOS } }, ['todos']);

export function todoTools(rules: WorkspaceRules): ServerTool[] {
  return [
    rules.keeps(
      {
        name: 'todo_read',
        description: 'The list of what is to be done in this run.',
        inputSchema: object({}, []),
        outputSchema: TODOS,
        execute: async (_args, context) => ({ todos: await servicesOf(context).todo.list() }),
      },
      { readonly: true, destructive: false, idempotent: true },
    ),
    rules.keeps(
      {
        name: 'todo_write',
        description: 'Replace the list of what is to be done in this run. At most one may be in_progress.',
        inputSchema: TODOS,
        outputSchema: TODOS,
        execute: async (args, context) => {
          const { todos } = argumentsOf<{ todos: readonly Todo[] }>(args);
          await servicesOf(context).todo.set(todos);
          return { todos };
        },
      },
      { readonly: false, destructive: false, idempotent: true },
    ),
  ];
}
