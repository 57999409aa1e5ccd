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

/** A run's list of what is to be done. It survives restarts. */
export interface TodoService {
  list(): Promise<readonly Todo[]>;
  /** Replaces the list. Refuses an id twice, and more than one `in_progress`. */
  set(todos: readonly Todo[]): Promise<void>;
}

/** What a run knows of the files it has seen, so that it does not overwrite what it has not. */
export interface FilePool {
  /** The run has seen, or written, this version. */
  remember(file: FileVersion): void;
  /** The version it saw last; undefined: it has not seen the file. */
  seen(path: string): string | undefined;
}

/** The services of one run. */
export function runServices(
  store: Pick<DocumentStore, 'document' | 'putDocument'>,
  scope: RunScope,
): ToolServices {
  return { todo: new TodoList(store, scope), filePool: new SeenFiles() };
}
