import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { Failure } from '../core/failures.ts';
import { DEFAULT_TENANT } from '../core/access/principal.ts';
import type { RunScope, ToolServices, Workspace, Workspaces } from '../core/workspaces.ts';
import type { CommandLimits, Enclosure, SandboxUser } from './enclosure.ts';
import { FileServerClient } from './file-server-client.ts';
import { RunSandbox } from './run-sandbox.ts';
import { folderId } from './folder-id.ts';
import { makeWorkspace, userOf } from './sandbox-user.ts';

export interface RunWorkspacesOptions {
  readonly enclosure: Enclosure;
  readonly limits: CommandLimits;
  readonly network: boolean;
  /** Why commands and writes are refused; null if they are allowed. */
  readonly refusal: Failure | null;
  /** The folder of all runs of the default tenant; null: each run has its own. */
  readonly root: string | null;
  /** The parent of the folders of runs. */
  readonly folder: string;
  /** Whether all nodes see the files of `folder`. Default: false. */
  readonly isShared?: boolean;
  readonly services: (scope: RunScope) => ToolServices;
  /** Returns an unguessable id. */
  readonly nextJobId: () => string;
  /** Maximum number of idle file servers. Default: 32. */
  readonly maxIdleFileServers?: number;
}

interface OpenWorkspace extends Workspace {
  readonly scope: RunScope;
  readonly sandbox: RunSandbox;
}

const FILE_SERVER_IDLE_MS = 60_000;
const MAX_OPEN = 10_000;
/** Each is a process, and takes three descriptors of the server. */
const MAX_IDLE_FILE_SERVERS = 32;

/** The workspaces of runs, one per run, created at the first use. */
export class RunWorkspaces implements Workspaces {
  readonly #options: RunWorkspacesOptions;
  /** In the order of their last use. */
  readonly #open: Map<string, OpenWorkspace> = new Map();
  readonly #servers: Map<string, FileServerClient> = new Map();
  /** In the order in which they became idle. Some may be busy again, or stopped. */
  readonly #idle: Set<FileServerClient> = new Set();
  #place: string | null = null;

  constructor(options: RunWorkspacesOptions) {
    this.#options = options;
  }

  get place(): string {
    const { folder, isShared = false } = this.#options;
    return (this.#place ??= isShared ? 'shared' : folderId(folder));
  }

  of(scope: RunScope): Workspace {
    const key = keyOf(scope);
    const existing = this.#open.get(key);
    const opened = existing ?? this.#make(scope);
    // The map is in order of use: a run that goes on keeps which files it has read.
    this.#open.delete(key);
    this.#open.set(key, opened);
    if (existing !== undefined) return existing;
    this.#closeOldest();
    return opened;
  }

  async endRun(scope: RunScope): Promise<void> {
    const key = keyOf(scope);
    const existing = this.#open.get(key);
    if (existing === undefined) return;
    this.#open.delete(key);
    await existing.sandbox.close();
    await this.#removeUnusedServer(existing)?.close();
  }

  withJobs(): readonly RunScope[] {
    const busy = [...this.#open.values()].filter(({ sandbox }) => sandbox.isBusy);
    return busy.map(({ scope: { tenant, runId } }) => ({ tenant, runId }));
  }

  /** Ends every command and file server. */
  async close(): Promise<void> {
    await Promise.all([...this.#open.values()].map(({ sandbox }) => sandbox.close()));
    await Promise.all([...this.#servers.values()].map((server) => server.close()));
  }

  #make(scope: RunScope): OpenWorkspace {
    const { enclosure, services } = this.#options;
    const root = this.#rootOf(scope);
    makeWorkspace(root);
    // Only bubblewrap can switch to another user.
    const user = enclosure.name === 'bubblewrap' ? userOf(root) : null;
    const server = this.#servers.get(root) ?? this.#fileServer(root, user);
    return {
      scope,
      sandbox: new RunSandbox({ ...this.#options, root, user, server }),
      services: services(scope),
    };
  }

  #fileServer(root: string, user: SandboxUser | null): FileServerClient {
    const { enclosure } = this.#options;
    const server: FileServerClient = new FileServerClient({
      enclosure,
      root,
      user,
      idleMs: FILE_SERVER_IDLE_MS,
      onIdle: () => this.#limitIdle(server),
    });
    this.#servers.set(root, server);
    return server;
  }

  #limitIdle(newest: FileServerClient): void {
    this.#idle.delete(newest);
    this.#idle.add(newest);
    const { maxIdleFileServers = MAX_IDLE_FILE_SERVERS } = this.#options;
    if (this.#idle.size <= maxIdleFileServers) return;
    const [oldest] = this.#idle;
    if (oldest === undefined) return;
    this.#idle.delete(oldest);
    if (oldest.isIdle) oldest.stop();
  }

  #rootOf({ tenant, runId }: RunScope): string {
    const { root, folder } = this.#options;
    if (root !== null && tenant === DEFAULT_TENANT) return root;
    return join(folder, folderName(tenant), folderName(runId));
  }

  /** Closes the workspace that was used least recently, of those without running jobs, if there are too many. */
  #closeOldest(): void {
    if (this.#open.size <= MAX_OPEN) return;
    for (const [key, workspace] of this.#open) {
      if (workspace.sandbox.isBusy) continue;
      this.#open.delete(key);
      this.#removeUnusedServer(workspace)?.stop();
      return;
    }
  }

  /** Removes and returns the file server of a closed workspace; null if another run uses the same folder. */
  #removeUnusedServer({ sandbox: { root } }: OpenWorkspace): FileServerClient | null {
    if ([...this.#open.values()].some(({ sandbox }) => sandbox.root === root)) return null;
    const server = this.#servers.get(root) ?? null;
    this.#servers.delete(root);
    return server;
  }
}

function keyOf({ tenant, runId }: RunScope): string {
  return JSON.stringify([tenant, runId]);
}

/** Returns a plain name unchanged and the hash of any other, so that no two names share a folder. */
function folderName(name: string): string {
  if (/^[a-z0-9][a-z0-9_-]{0,63}$/.test(name) && !name.startsWith('sha256-')) return name;
  return `sha256-${createHash('sha256').update(name).digest('hex').slice(0, 40)}`;
}
