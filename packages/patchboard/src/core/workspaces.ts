import { failure, ToolFailure } from './failures.ts';
import type { Sandbox } from './sandbox.ts';

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

/**
 * What tools of a run share besides the sandbox. Core passes it on and knows no member: the pack that brings a service
 * declares it here by merging into this interface.
 */
// oxlint-disable-next-line typescript/no-empty-object-type
export interface ToolServices {}

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
