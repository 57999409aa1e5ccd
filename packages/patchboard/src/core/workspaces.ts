import { reason } from '@patchboard/wire';
import { failure, ToolFailure } from './failures.ts';
import type { Sandbox } from './sandbox.ts';

/** The workspace of one run. */
export interface Workspace {
  readonly sandbox: Sandbox;
  /** Undefined if no workspace is configured. */
  readonly services: ToolServices | undefined;
}

export interface RunScope {
  readonly tenant: string;
  readonly runId: string;
}

/** Returns the workspace of each run. It is opened on first use and cached. */
export interface Workspaces {
  /** Identifies the volume with the files of the runs: equal on all nodes that share it. */
  readonly place: string;
  of(scope: RunScope): Workspace;
  /** Ends the background jobs of the run. */
  endRun(scope: RunScope): Promise<void>;
  /** The runs that have background jobs in this process. */
  withJobs(): readonly RunScope[];
}

/**
 * Services that tools of a run share besides the sandbox. Core passes them through: the pack that provides a service
 * declares its member by merging into this interface.
 */
// oxlint-disable-next-line typescript/no-empty-object-type
export interface ToolServices {}

/** For tools that need a service. Throws `ToolFailure` if no workspace is configured. */
export function servicesOf({ services }: { readonly services?: ToolServices | undefined }): ToolServices {
  if (services === undefined) throw noWorkspace();
  return services;
}

/** Used if no workspace is configured: a tool that uses the sandbox fails with `sandbox_unavailable`; services are absent. */
export const NO_WORKSPACES: Workspaces = {
  place: '',
  of: () => ({
    get sandbox(): Sandbox {
      throw noWorkspace();
    },
    services: undefined,
  }),
  endRun: () => Promise.resolve(),
  withJobs: () => [],
};

function noWorkspace(): ToolFailure {
  return new ToolFailure(
    failure('sandbox_unavailable', reason('workspace_missing'), {
      recommendations: ["give the board one: createPatchboard({ workspace: { root: './folder' } })"],
    }),
  );
}
