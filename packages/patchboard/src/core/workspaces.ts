import { failure, ToolFailure } from './failures.ts';
import type { FileVersion, Sandbox } from './sandbox.ts';

/** What one run has to itself. */
export interface Workspace {
  readonly sandbox: Sandbox;
  readonly services: ToolServices;
}

export interface RunScope {
  readonly tenant: string;
  readonly runId: string;
}

/** Gives each run its workspace. Opened on first use and cheap to ask for again. */
export interface Workspaces {
  of(scope: RunScope): Workspace;
  /** Ends what the run left running. */
  endRun(scope: RunScope): Promise<void>;
}

export interface ToolServices {
  readonly todo: TodoService;
  readonly filePool: FilePool;
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

/** Where nobody configured a workspace: whatever a tool asks of it fails and says so. */
export const NO_WORKSPACES: Workspaces = {
  of: () => ({
    get sandbox(): Sandbox {
      throw noWorkspace();
    },
    get services(): ToolServices {
      throw noWorkspace();
    },
  }),
  endRun: () => Promise.resolve(),
};

function noWorkspace(): ToolFailure {
  return new ToolFailure(
    failure('sandbox_unavailable', 'there is no workspace here', {
      recommendations: ["give the board one: createPatchboard({ workspace: { root: './folder' } })"],
    }),
  );
}
