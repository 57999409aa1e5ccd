import type { DocumentStore } from '../../core/documents.ts';
import { failure, ToolFailure } from '../../core/failures.ts';
import type { RunScope } from '../../core/workspaces.ts';
import type { Todo, TodoService } from './services.ts';

/** The todo list of a run, kept in the store. */
export class TodoList implements TodoService {
  readonly #store: Pick<DocumentStore, 'document' | 'putDocument'>;
  readonly #id: string;

  constructor(store: Pick<DocumentStore, 'document' | 'putDocument'>, { tenant, runId }: RunScope) {
    this.#store = store;
    this.#id = JSON.stringify([tenant, runId]);
  }

  async list(): Promise<readonly Todo[]> {
    const body = await this.#store.document('todo', this.#id);
    return body === undefined ? [] : (JSON.parse(body) as readonly Todo[]);
  }

  async set(todos: readonly Todo[]): Promise<void> {
    const problem = problemWith(todos);
    if (problem !== null) throw new ToolFailure(failure('input_invalid', problem));
    await this.#store.putDocument('todo', this.#id, JSON.stringify(todos), []);
  }
}

function problemWith(todos: readonly Todo[]): string | null {
  const ids = new Set<string>();
  for (const { id } of todos) {
    if (ids.has(id)) return `two todos have the id ${id}`;
    ids.add(id);
  }
  const busy = todos.filter(({ status }) => status === 'in_progress').map(({ id }) => id);
  return busy.length > 1 ? `only one todo may be in_progress, not ${busy.length} (${busy.join(', ')})` : null;
}
