import { reason } from '@patchboard/wire';
import { statSync } from 'node:fs';
import { extname, join, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Failure } from '../core/failures.ts';
import { failure } from '../core/failures.ts';
import type { Ids, Log, Store } from '../core/ports.ts';
import type { Pack } from '../core/tools/server-tool.ts';
import type { Workspaces } from '../core/workspaces.ts';
import { workspacePack } from '../packs/workspace/pack.ts';
import { runServices } from '../packs/workspace/services.ts';
import { DEFAULT_COMMAND_LIMITS } from '../sandbox/command-limits.ts';
import type { CommandLimits, EnclosureOptions, OwnTools } from '../sandbox/enclosure.ts';
import { probe, type ProbeReport } from '../sandbox/probe.ts';
import { RunWorkspaces } from '../sandbox/run-workspaces.ts';
import { contains } from './contains.ts';
import { makeWorkspace, serverUser, UnusableFolder, userOf } from '../sandbox/sandbox-user.ts';

/** Settings of the sandbox and the working folder of commands. */
export interface WorkspaceSettings {
  /** One folder for all runs of the default tenant; null: each run has its own folder. */
  readonly root: string | null;
  /**
   * A folder on a volume that all nodes mount: the folders of runs are created in it, and their files outlive the node.
   * Null: each node has its own.
   */
  readonly shared: string | null;
  /** Creates `root` if it does not exist. Default: a missing root is an error. */
  readonly create: boolean;
  /** Whether commands that request network access get it. */
  readonly network: boolean;
  /** Environment variables of commands, in addition to a small default set. */
  readonly environment: Readonly<Record<string, string>>;
  /** Folders that commands may read, in addition to those of the system. */
  readonly readable: readonly string[];
  readonly limits: CommandLimits;
  /** Search path for the sandbox program, in the format of PATH. */
  readonly searchPath: string;
  /** Without a usable sandbox, commands and writes run anyway, and each requires approval. */
  readonly unsafeNoSandbox: boolean;
}

/** @deprecated Use `WorkspaceSettings`. */
export type WorkbenchSettings = WorkspaceSettings;

/** Workspace options of an embedding program; omitted members use the server's defaults. */
export type WorkspaceOptions = Partial<Omit<WorkspaceSettings, 'limits'>> & {
  readonly limits?: Partial<CommandLimits>;
};

const USUAL_PATH = '/usr/local/bin:/usr/bin:/bin';

export function resolveWorkspace(given: WorkspaceOptions): WorkspaceSettings {
  const { root = null, network = false, environment = {}, readable = [], unsafeNoSandbox = false } = given;
  return {
    root: root === null ? null : resolve(root),
    shared: given.shared === undefined || given.shared === null ? null : resolve(given.shared),
    create: given.create ?? false,
    network,
    environment,
    readable: readable.map((path) => resolve(path)),
    limits: { ...DEFAULT_COMMAND_LIMITS, ...given.limits },
    searchPath: given.searchPath ?? USUAL_PATH,
    unsafeNoSandbox,
  };
}

export interface SandboxSetup {
  readonly workspaces: Workspaces;
  readonly pack: Pack;
  readonly report: SandboxReport;
  close(): Promise<void>;
}

/** The result of the sandbox check at startup. */
export interface SandboxReport extends ProbeReport {
  /** Whether commands and writes are refused. */
  readonly isOff: boolean;
}

export interface SandboxSetupParts {
  readonly store: Store;
  readonly ids: Pick<Ids, 'secret'>;
  readonly log: Log;
  /** Parent folder of the workspaces of runs and of the sandbox state. */
  readonly folder: string;
  /** True: `folder` is deleted at the end and has neither store nor token, so that commands may see it. Default: false. */
  readonly isTemporary?: boolean;
  /** Whether agents run in this process, so that the task tool is available. */
  readonly tasks: boolean;
}

/** Throws `UnusableFolder` if the configured folder cannot be used. */
export async function openSandboxSetup(
  settings: WorkspaceSettings,
  parts: SandboxSetupParts,
): Promise<SandboxSetup> {
  const { log, folder } = parts;
  refuseMissingRoot(settings);
  refuseRootOutside(settings);
  if (parts.isTemporary !== true) refuseExposed(settings, folder);
  const { enclosure, report } = await probeSandbox(settings, join(folder, 'sandbox'));
  if (settings.root !== null) {
    makeWorkspace(settings.root);
    if (enclosure.name === 'bubblewrap') userOf(settings.root);
  }
  const refusal = refusalOf(report, settings.unsafeNoSandbox);
  if (report.problem !== null) log.warn('sandbox.none', { problem: report.problem, off: refusal !== null });
  const workspaces = new RunWorkspaces({
    ...settings,
    enclosure,
    refusal,
    folder: settings.shared ?? join(folder, 'workspaces'),
    isShared: settings.shared !== null,
    services: (scope) => runServices(parts.store, scope),
    nextJobId: () => `job_${parts.ids.secret(128)}`,
  });
  return {
    workspaces,
    pack: workspacePack({ provider: enclosure.name, user: serverUser(), refusal }, { tasks: parts.tasks }),
    report: { ...report, isOff: refusal !== null },
    close: () => workspaces.close(),
  };
}

function refuseMissingRoot({ root, create }: WorkspaceSettings): void {
  if (root === null) return;
  const found = statSync(root, { throwIfNoEntry: false });
  if (found === undefined && !create) throw new UnusableFolder(reason('folder_missing', { path: root }));
  if (found !== undefined && !found.isDirectory())
    throw new UnusableFolder(reason('folder_no_folder', { path: root }));
}

/** Another node would not have the files of the runs of the default tenant. */
function refuseRootOutside({ root, shared }: WorkspaceSettings): void {
  if (root === null || shared === null || root === shared || root.startsWith(join(shared, sep))) return;
  throw new UnusableFolder(reason('folder_outside', { path: root, folder: shared }));
}

/** Commands, and tools that need no approval, read these folders: the data folder has the store and the operator token. */
function refuseExposed({ root, readable }: WorkspaceSettings, folder: string): void {
  const refuse = (option: string, path: string): void => {
    if (contains(path, folder)) throw new UnusableFolder(reason('folder_exposes', { option, path, folder }));
  };
  if (root !== null) refuse('root', root);
  for (const path of readable) refuse('readable', path);
}

/** Finds and tests the sandbox of this machine. `patchboard doctor` uses it too. */
export async function probeSandbox(
  { environment, readable, limits, searchPath }: WorkspaceSettings,
  stateFolder: string,
): ReturnType<typeof probe> {
  const tools = await ownTools();
  const options: EnclosureOptions = { tools, limits, environment, readable, searchPath, stateFolder };
  return await probe(options);
}

async function ownTools(): Promise<OwnTools> {
  // Imported lazily, because the module throws on import if its binary is missing.
  const { rgPath } = await import('@vscode/ripgrep');
  const main = fileURLToPath(
    new URL(`../sandbox/file-server/main${extname(import.meta.url)}`, import.meta.url),
  );
  return { node: process.execPath, ripgrep: rgPath, fileServer: join(main, '..') };
}

function refusalOf({ problem }: ProbeReport, unsafeNoSandbox: boolean): Failure | null {
  if (problem === null || unsafeNoSandbox) return null;
  return failure('sandbox_unavailable', reason('sandbox_missing', { problem }), {
    recommendations: [
      'an operator can run: patchboard doctor',
      'patchboard serve --unsafe-no-sandbox runs them without a sandbox, each after approval',
    ],
  });
}
