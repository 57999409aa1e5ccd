import { reason, type Reason } from '@patchboard/wire';
import { BoundedMap } from '../../core/bounded-map.ts';
import { failure, ToolFailure } from '../../core/failures.ts';
import type { DocumentStore } from '../../core/documents.ts';
import type { FileVersion } from '../../core/sandbox.ts';
import type { RunScope, ToolServices } from '../../core/workspaces.ts';

declare module '../../core/workspaces.ts' {
  interface ToolServices {
    readonly todo: TodoService;
    readonly filePool: FilePool;
  }
}

export interface Todo {
  readonly id: string;
  readonly content: string;
  readonly status: 'pending' | 'in_progress' | 'completed';
}

/** The todo list of a run. It survives restarts. */
export interface TodoService {
  list(): Promise<readonly Todo[]>;
  /** Replaces the list. Rejects a duplicate id, and more than one `in_progress`. */
  set(todos: readonly Todo[]): Promise<void>;
}

/** The file versions that a run has read, so that it does not overwrite changes that it has not read. */
export interface FilePool {
  /** Records a version that the run has read or written. */
  remember(file: FileVersion): void;
  /** Returns the last recorded version; undefined if there is none. */
  seen(path: string): string | undefined;
}

/** The services of one run. */
export function runServices(
  store: Pick<DocumentStore, 'document' | 'putDocument'>,
  scope: RunScope,
): ToolServices {
  return { todo: new TodoList(store, scope), filePool: new SeenFiles() };
}

/** The todo list of a run, kept in the store. */
class TodoList implements TodoService {
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

function problemWith(todos: readonly Todo[]): Reason | null {
  const ids = new Set<string>();
  for (const { id } of todos) {
    if (ids.has(id)) return reason('todo_twice', { id });
    ids.add(id);
  }
  const busy = todos.filter(({ status }) => status === 'in_progress').map(({ id }) => id);
  return busy.length > 1 ? reason('todos_in_progress', { count: busy.length, ids: busy.join(', ') }) : null;
}

const MAX_FILES = 10_000;

/** The versions of files that a run has read, bounded: the oldest entries are dropped and count as never read. */
class SeenFiles implements FilePool {
  readonly #versions: BoundedMap<string, string> = new BoundedMap(MAX_FILES);

  remember({ path, version }: FileVersion): void {
    this.#versions.set(path, version);
  }

  seen(path: string): string | undefined {
    return this.#versions.get(path);
  }
}
