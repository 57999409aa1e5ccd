import type { DocumentStore } from '../../core/documents.ts';
import type { FileVersion } from '../../core/sandbox.ts';
import type { RunScope, ToolServices } from '../../core/workspaces.ts';
import { SeenFiles } from './files/seen-files.ts';
import { TodoList } from './todo-list.ts';

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
