import { isAbsolute, relative, resolve, sep } from 'node:path';
import { StringDecoder } from 'node:string_decoder';
import { reason, type SandboxName } from '@patchboard/wire';
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
import { longTimeout } from './long-timeout.ts';

export interface RunSandboxOptions {
  readonly enclosure: Enclosure;
  readonly root: string;
  readonly user: SandboxUser | null;
  readonly limits: CommandLimits;
  /** Whether commands may request network access. */
  readonly network: boolean;
  /** Why commands and writes are refused; null if they are allowed. */
  readonly refusal: Failure | null;
  readonly server: FileServerClient;
  readonly nextJobId: () => string;
}

const MAX_TEXT_BYTES = 16 * 1024 * 1024;
const MAX_JOBS = 32;
/** The longest argument that Linux accepts (MAX_ARG_STRLEN, less the terminating NUL). */
const MAX_COMMAND_BYTES = 131_071;

/** The sandbox of one run. */
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

  /** Whether a background job is running. */
  get isBusy(): boolean {
    return [...this.#jobs.values()].some((job) => job.isRunning);
  }

  async exec(command: string, options: ExecOptions = {}): Promise<ExecResult> {
    const { signal, onOutput, timeoutMs = this.#options.limits.timeoutMs } = options;
    signal?.throwIfAborted();
    const { outputBytes } = this.#options.limits;
    const kept = { stdout: new KeptOutput(outputBytes), stderr: new KeptOutput(outputBytes) };
    // A chunk may end within a character.
    const decoders = { stdout: new StringDecoder('utf8'), stderr: new StringDecoder('utf8') };
    const emit = (stream: 'stdout' | 'stderr', text: string): void => {
      if (text !== '') onOutput?.(stream, text);
    };
    const running = this.#start(command, options, (stream, chunk) => {
      kept[stream].push(chunk);
      emit(stream, decoders[stream].write(chunk));
    });
    let timedOut = false;
    const kill = (): void => running.kill();
    const disarm = longTimeout(timeoutMs, () => {
      timedOut = true;
      kill();
    });
    signal?.addEventListener('abort', kill, { once: true });
    const { exitCode, problem } = await running.ended;
    disarm();
    signal?.removeEventListener('abort', kill);
    for (const stream of ['stdout', 'stderr'] as const) emit(stream, decoders[stream].end());
    // Thrown only now, so that a command reported as stopped has really ended.
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
    this.#makeRoomForJob();
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
    if (options.follow === true) await job?.waitForOutput(options);
    options.signal?.throwIfAborted();
    return job?.read(options.offset ?? 0);
  }

  async kill(jobId: string): Promise<JobLog | undefined> {
    const job = this.#jobs.get(jobId);
    job?.kill();
    await job?.ended;
    return job?.read(Number.MAX_SAFE_INTEGER);
  }

  /** Kills all jobs and waits for their end. */
  async close(): Promise<void> {
    for (const job of this.#jobs.values()) job.kill();
    await Promise.all([...this.#jobs.values()].map((job) => job.ended));
  }

  async readFile(path: string): Promise<string> {
    const file = await this.files.read(path, { maxBytes: MAX_TEXT_BYTES });
    if (file === undefined) throw new ToolFailure(failure('tool_failed', reason('file_unknown', { path })));
    if (file.truncated)
      throw new ToolFailure(
        failure('result_too_large', reason('file_over_limit', { path, bytes: MAX_TEXT_BYTES })),
      );
    return Buffer.from(file.bytes).toString('utf8');
  }

  async writeFile(path: string, content: string): Promise<void> {
    await this.files.replace([{ path, content }]);
  }

  async list(path = '.'): Promise<readonly FolderEntry[]> {
    return await this.#options.server.request('list', { path });
  }

  #workspaceFiles(server: FileServerClient): WorkspaceFiles {
    return {
      read: async (path, options) => (await server.request('read', { path, options })) ?? undefined,
      replace: async (changes) => {
        this.#throwIfRefused();
        return await server.request('replace', { changes });
      },
      glob: async (query, signal) => await server.request('glob', query, signal),
      grep: async (query, signal) => await server.request('grep', query, signal),
    };
  }

  #start(
    command: string,
    options: ExecOptions,
    onOutput: (stream: 'stdout' | 'stderr', chunk: Buffer) => void,
  ): EnclosedProcess {
    this.#throwIfRefused();
    const { enclosure } = this.#options;
    return new EnclosedProcess(this.#line(command, options), { killsTrees: enclosure.killsTrees, onOutput });
  }

  #line(command: string, { cwd = '.', network = false }: ExecOptions): CommandLine {
    const { enclosure, root, user } = this.#options;
    if (command.includes('\0')) throw new ToolFailure(failure('input_invalid', reason('command_with_nul')));
    const bytes = Buffer.byteLength(command);
    if (bytes > MAX_COMMAND_BYTES)
      throw new ToolFailure(
        failure('input_invalid', reason('command_over_limit', { bytes, most: MAX_COMMAND_BYTES })),
      );
    if (network && !this.#options.network) {
      const recommendations = ['an operator can set workspace.network: true in the config'];
      throw new ToolFailure(
        failure('permission_denied', reason('command_without_network'), { recommendations }),
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

  #throwIfRefused(): void {
    if (this.#options.refusal !== null) throw new ToolFailure(this.#options.refusal);
  }

  /** Removes the oldest ended job if there are too many; throws if all of them are running. */
  #makeRoomForJob(): void {
    if (this.#jobs.size < MAX_JOBS) return;
    for (const [id, job] of this.#jobs) {
      if (job.isRunning) continue;
      this.#jobs.delete(id);
      return;
    }
    throw new ToolFailure(failure('tool_failed', reason('jobs_of_run', { count: MAX_JOBS })));
  }
}

/** Checks the text of the path only; links that lead outside are the sandbox's concern. */
function folderInside(root: string, given: string): string {
  const path = relative(root, resolve(root, given));
  if (path !== '..' && !path.startsWith(`..${sep}`) && !isAbsolute(path)) return resolve(root, path);
  throw new ToolFailure(failure('permission_denied', reason('cwd_outside', { path: given })));
}

/** Appends the launcher's stderr to the message. */
function startFailure(problem: Failure, stderr = ''): ToolFailure {
  const detail = stderr.trim().slice(0, 500);
  return new ToolFailure(detail === '' ? problem : { ...problem, message: `${problem.message}: ${detail}` });
}
