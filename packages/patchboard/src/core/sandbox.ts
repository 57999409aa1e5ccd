import type { SandboxName } from '@patchboard/wire';

/** The machine as a run sees it: one folder it may change, and commands that cannot leave it. */
export interface Sandbox {
  /** What really encloses the commands; `none` is said, never hidden. */
  readonly provider: SandboxName;
  /** The workspace, absolute. Relative paths start here, and nothing outside is read or written. */
  readonly root: string;
  /** Runs a shell command to its end. Resolves also when it fails; an aborted signal kills all it started. */
  exec(command: string, options?: ExecOptions): Promise<ExecResult>;
  /** Starts a shell command and answers with the id of the job. It ends with the run at the latest. */
  execBackground(command: string, options?: Omit<ExecOptions, 'onOutput' | 'signal'>): Promise<string>;
  /** What a job of this run wrote from `offset` on; undefined: this run has no such job. */
  logs(jobId: string, options?: LogOptions): Promise<JobLog | undefined>;
  /** Ends a job of this run and all it started; undefined: this run has no such job. */
  kill(jobId: string): Promise<JobLog | undefined>;
  /** As UTF-8 text. */
  readFile(path: string): Promise<string>;
  /** Makes parent folders; a reader sees the old content or the new one, nothing between. */
  writeFile(path: string, content: string): Promise<void>;
  /** What is in a folder, by name; the root by default. */
  list(path?: string): Promise<readonly FolderEntry[]>;
  /** What the file tools are made of. */
  readonly files: WorkspaceFiles;
}

export interface ExecOptions {
  /** Inside the workspace. Default: its root. */
  readonly cwd?: string;
  /** Milliseconds until everything is killed. */
  readonly timeoutMs?: number;
  /** Only where the operator lets commands use the network. Default false. */
  readonly network?: boolean;
  readonly signal?: AbortSignal;
  /** Told of output as it comes. */
  readonly onOutput?: (stream: 'stdout' | 'stderr', text: string) => void;
}

export interface ExecResult {
  readonly stdout: string;
  readonly stderr: string;
  /** Null: it was killed. */
  readonly exitCode: number | null;
  readonly timedOut: boolean;
  /** Only the beginning and the end were kept. */
  readonly stdoutTruncated: boolean;
  readonly stderrTruncated: boolean;
}

export interface LogOptions {
  /** Bytes from the beginning of the job's output. Default 0. */
  readonly offset?: number;
  /** Wait until there is more than that, or the job has ended. */
  readonly follow?: boolean;
  readonly signal?: AbortSignal;
}

/** Both streams of a job in the order in which they came. */
export interface JobLog {
  readonly output: string;
  /** Where `output` begins: later than asked if what was before is no longer kept. */
  readonly offset: number;
  /** Ask from here next time. */
  readonly nextOffset: number;
  readonly status: 'running' | 'exited' | 'killed';
  readonly exitCode: number | null;
}

export interface FolderEntry {
  readonly name: string;
  readonly kind: 'file' | 'folder' | 'link' | 'other';
}

/** Files by path, never outside the root whatever links or races say. Failures are `ToolFailure`. */
export interface WorkspaceFiles {
  /** Undefined: there is no such file. Anything but a regular file is refused. */
  read(path: string, options: ReadOptions): Promise<FileContent | undefined>;
  /** All of them or none. */
  replace(changes: readonly FileChange[]): Promise<readonly FileVersion[]>;
  /** Paths in order; files that git ignores are left out. */
  glob(query: GlobQuery, signal?: AbortSignal): Promise<GlobAnswer>;
  grep(query: GrepQuery, signal?: AbortSignal): Promise<GrepAnswer>;
}

export interface ReadOptions {
  readonly maxBytes: number;
  /** Only these; the first line is 1. */
  readonly lines?: { readonly offset: number; readonly limit: number };
}

export interface FileContent extends FileVersion {
  /** What was asked for of it. */
  readonly bytes: Uint8Array;
  /** Of the whole file. */
  readonly lineCount: number;
  /** There is more in the file than was asked for. */
  readonly truncated: boolean;
}

export interface FileVersion {
  /** From the root, with forward slashes. */
  readonly path: string;
  /** Of the whole file. */
  readonly size: number;
  /** Hash of the whole content: the same version, the same bytes. */
  readonly version: string;
}

export interface FileChange {
  readonly path: string;
  readonly content: string;
  /** Refused unless the file still is this; null: unless there is none; undefined: whatever it is. */
  readonly expected?: string | null;
}

export interface GlobQuery {
  readonly pattern: string;
  readonly exclude: readonly string[];
  /** A folder to look in. */
  readonly path: string;
  readonly limit: number;
}

export interface GlobAnswer {
  readonly paths: readonly string[];
  readonly truncated: boolean;
}

export interface GrepQuery {
  readonly pattern: string;
  readonly literal: boolean;
  readonly ignoreCase: boolean;
  readonly wholeWord: boolean;
  /** The pattern may span lines. */
  readonly multiline: boolean;
  /** A file or folder to look in. */
  readonly path: string;
  /** Only files that match; null: all. */
  readonly glob: string | null;
  /** Lines shown before and after. */
  readonly context: number;
  readonly limit: number;
}

export interface GrepAnswer {
  readonly matches: readonly GrepMatch[];
  readonly truncated: boolean;
}

export interface GrepMatch {
  readonly path: string;
  readonly line: number;
  readonly text: string;
  readonly before?: readonly string[];
  readonly after?: readonly string[];
}
