import { isAbsolute, relative, resolve, sep } from 'node:path';
import type { SandboxName } from '@patchboard/wire';
import { failure, ToolFailure, type Failure } from '../core/failures.ts';
import type {
  ExecOptions,
  ExecResult,
  FolderEntry,
  JobLog,
  LogOptions,
  Sandbox,
  WorkspaceFiles,
} from '../core/sandbox.ts';
import { EnclosedProcess } from './enclosed-process.ts';
import type { CommandLimits, CommandLine, Enclosure, SandboxUser } from './enclosure.ts';
import type { FileServerClient } from './file-server-client.ts';
import { Job } from './jobs.ts';
import { KeptOutput } from './kept-output.ts';

export interface RunSandboxOptions {
  readonly enclosure: Enclosure;
  readonly root: string;
  readonly user: SandboxUser | null;
  readonly limits: CommandLimits;
  /** Commands that ask for the network get it. */
  readonly network: boolean;
  /** Why nothing may be run or written here; null: it may. */
  readonly refusal: Failure | null;
  readonly server: FileServerClient;
  readonly nextJobId: () => string;
}

const MAX_TEXT_BYTES = 16 * 1024 * 1024;
const MAX_JOBS = 32;
/** Linux takes no longer argument (MAX_ARG_STRLEN, less the NUL that ends it). */
const MAX_COMMAND_BYTES = 131_071;

/** What one run sees of the machine. */
export class RunSandbox implements Sandbox {
  readonly files: WorkspaceFiles;
  readonly #options: RunSandboxOptions;
  readonly #jobs: Map<string, Job> = new Map();

  constructor(options: RunSandboxOptions) {
    this.#options = options;
    this.files = this.#workspaceFiles(options.server);
  }

  get provider(): SandboxName {
    return this.#options.enclosure.name;
  }

  get root(): string {
    return this.#options.root;
  }

  /** Something of it runs in the background. */
  get isBusy(): boolean {
    return [...this.#jobs.values()].some((job) => job.isRunning);
  }

  async exec(command: string, options: ExecOptions = {}): Promise<ExecResult> {
    const { signal, onOutput, timeoutMs = this.#options.limits.timeoutMs } = options;
    signal?.throwIfAborted();
    const { outputBytes } = this.#options.limits;
    const kept = { stdout: new KeptOutput(outputBytes), stderr: new KeptOutput(outputBytes) };
    const running = this.#start(command, options, (stream, chunk) => {
      kept[stream].push(chunk);
      onOutput?.(stream, chunk.toString('utf8'));
    });
    let timedOut = false;
    const kill = (): void => running.kill();
    const overdue = setTimeout(() => {
      timedOut = true;
      kill();
    }, timeoutMs);
    signal?.addEventListener('abort', kill, { once: true });
    const { exitCode, problem } = await running.ended;
    clearTimeout(overdue);
    signal?.removeEventListener('abort', kill);
    // What is reported as stopped has stopped: this comes after the end.
    signal?.throwIfAborted();
    if (problem !== null) throw startFailure(problem, kept.stderr.text());
    return {
      stdout: kept.stdout.text(),
      stderr: kept.stderr.text(),
      exitCode,
      timedOut,
      stdoutTruncated: kept.stdout.truncated,
      stderrTruncated: kept.stderr.truncated,
    };
  }

  async execBackground(
    command: string,
    options: Omit<ExecOptions, 'onOutput' | 'signal'> = {},
  ): Promise<string> {
    const { outputBytes, jobMs } = this.#options.limits;
    this.#forgetOldJobs();
    const id = this.#options.nextJobId();
    const lifeMs = options.timeoutMs ?? jobMs;
    const job = new Job(id, { outputBytes, lifeMs }, (onOutput) =>
      this.#start(command, options, (_stream, chunk) => onOutput(chunk)),
    );
    const problem = job.hasStarted ? null : (await job.ended).problem;
    if (problem !== null) throw startFailure(problem);
    this.#jobs.set(id, job);
    return id;
  }

  async logs(jobId: string, options: LogOptions = {}): Promise<JobLog | undefined> {
    const job = this.#jobs.get(jobId);
    if (options.follow === true) await job?.news(options);
    options.signal?.throwIfAborted();
    return job?.read(options.offset ?? 0);
  }

  async kill(jobId: string): Promise<JobLog | undefined> {
    const job = this.#jobs.get(jobId);
    job?.kill();
    await job?.ended;
    return job?.read(Number.MAX_SAFE_INTEGER);
  }

  /** Ends every job. */
  async close(): Promise<void> {
    for (const job of this.#jobs.values()) job.kill();
    await Promise.all([...this.#jobs.values()].map((job) => job.ended));
  }

  async readFile(path: string): Promise<string> {
    const file = await this.files.read(path, { maxBytes: MAX_TEXT_BYTES });
    if (file === undefined) throw new ToolFailure(failure('tool_failed', `no such file: ${path}`));
    if (file.truncated)
      throw new ToolFailure(failure('result_too_large', `${path} is larger than ${MAX_TEXT_BYTES} bytes`));
    return Buffer.from(file.bytes).toString('utf8');
  }

  async writeFile(path: string, content: string): Promise<void> {
    await this.files.replace([{ path, content }]);
  }

  async list(path = '.'): Promise<readonly FolderEntry[]> {
    return await this.#options.server.ask('list', { path });
  }

  #workspaceFiles(server: FileServerClient): WorkspaceFiles {
    return {
      read: async (path, options) => (await server.ask('read', { path, options })) ?? undefined,
      replace: async (changes) => {
        this.#refuseIfOff();
        return await server.ask('replace', { changes });
      },
      glob: async (query, signal) => await server.ask('glob', query, signal),
      grep: async (query, signal) => await server.ask('grep', query, signal),
    };
  }

  #start(
    command: string,
    options: ExecOptions,
    onOutput: (stream: 'stdout' | 'stderr', chunk: Buffer) => void,
  ): EnclosedProcess {
    this.#refuseIfOff();
    const { enclosure } = this.#options;
    return new EnclosedProcess(this.#line(command, options), { killsTrees: enclosure.killsTrees, onOutput });
  }

  #line(command: string, { cwd = '.', network = false }: ExecOptions): CommandLine {
    const { enclosure, root, user } = this.#options;
    if (command.includes('\0'))
      throw new ToolFailure(failure('input_invalid', 'a command holds no NUL character'));
    const bytes = Buffer.byteLength(command);
    if (bytes > MAX_COMMAND_BYTES)
      throw new ToolFailure(
        failure('input_invalid', `the command has ${bytes} bytes; the limit is ${MAX_COMMAND_BYTES}`),
      );
    if (network && !this.#options.network) {
      const recommendations = ['an operator can set workspace.network: true in the config'];
      throw new ToolFailure(
        failure('permission_denied', 'commands may not ask for the network here', { recommendations }),
      );
    }
    return enclosure.wrap({
      argv: ['bash', '-c', command],
      root,
      cwd: folderInside(root, cwd),
      network,
      environment: {},
      user,
    });
  }

  #refuseIfOff(): void {
    if (this.#options.refusal !== null) throw new ToolFailure(this.#options.refusal);
  }

  #forgetOldJobs(): void {
    if (this.#jobs.size < MAX_JOBS) return;
    for (const [id, job] of this.#jobs) {
      if (job.isRunning) continue;
      this.#jobs.delete(id);
      return;
    }
    const message = `${MAX_JOBS} commands of this run are in the background already: end one with bash_kill`;
    throw new ToolFailure(failure('tool_failed', message));
  }
}

/** By its text alone: where it really leads is for the enclosure to settle. */
function folderInside(root: string, given: string): string {
  const path = relative(root, resolve(root, given));
  if (path !== '..' && !path.startsWith(`..${sep}`) && !isAbsolute(path)) return resolve(root, path);
  throw new ToolFailure(failure('permission_denied', `cwd ${given} is outside the workspace`));
}

/** With what the launcher wrote, which says more. */
function startFailure(problem: Failure, stderr = ''): ToolFailure {
  const said = stderr.trim().slice(0, 500);
  return new ToolFailure(said === '' ? problem : { ...problem, message: `${problem.message}: ${said}` });
}
