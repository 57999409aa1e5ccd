import { failure, ToolFailure } from './failures.ts';
import type { FileVersion, Sandbox } from './sandbox.ts';

/** What one run has to itself. */
export interface Workspace {
  readonly sandbox: Sandbox;
  /** Undefined: there is no workspace. */
  readonly services: ToolServices | undefined;
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

/** For tools that cannot do without. Throws `ToolFailure` where there is no workspace. */
export function servicesOf({ services }: { readonly services?: ToolServices | undefined }): ToolServices {
  if (services === undefined) throw noWorkspace();
  return services;
}

/** Where no workspace is configured: a tool that uses the sandbox fails and says so; services are absent. */
export const NO_WORKSPACES: Workspaces = {
  of: () => ({
    get sandbox(): Sandbox {
      throw noWorkspace();
    },
    services: undefined,
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
