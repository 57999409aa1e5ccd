import type { SandboxName } from '@patchboard/wire';

/** The workspace of a run: one folder that it may change, and commands that are confined to it. */
export interface Sandbox {
  /** The mechanism that confines the commands; `none` if there is none. */
  readonly provider: SandboxName;
  /** Absolute path of the workspace. Relative paths start here, and nothing outside is read or written. */
  readonly root: string;
  /** Runs a shell command to its end. Resolves also if it fails. An aborted signal kills all processes that it started. */
  exec(command: string, options?: ExecOptions): Promise<ExecResult>;
  /** Starts a shell command and returns the id of the job. The job ends with the run at the latest. */
  execBackground(command: string, options?: Omit<ExecOptions, 'onOutput' | 'signal'>): Promise<string>;
  /** Returns the output of a job from `offset` on; undefined if this run has no such job. */
  logs(jobId: string, options?: LogOptions): Promise<JobLog | undefined>;
  /** Kills a job and all processes that it started; returns undefined if this run has no such job. */
  kill(jobId: string): Promise<JobLog | undefined>;
  /** Reads a file as UTF-8 text. */
  readFile(path: string): Promise<string>;
  /** Writes a file atomically, and creates its parent folders. */
  writeFile(path: string, content: string): Promise<void>;
  /** Lists a folder, sorted by name. Default: the root. */
  list(path?: string): Promise<readonly FolderEntry[]>;
  /** The file operations that the workspace tools use. */
  readonly files: WorkspaceFiles;
}

export interface ExecOptions {
  /** Working directory, inside the workspace. Default: its root. */
  readonly cwd?: string;
  /** Milliseconds until the command and its children are killed. */
  readonly timeoutMs?: number;
  /** Allows network access, if the operator's configuration permits it. Default false. */
  readonly network?: boolean;
  /** Ends the command. In a tool, the end of its call does so too. */
  readonly signal?: AbortSignal;
  /** Called with output as it arrives. */
  readonly onOutput?: (stream: 'stdout' | 'stderr', text: string) => void;
}

export interface ExecResult {
  readonly stdout: string;
  readonly stderr: string;
  /** Null if it was killed. */
  readonly exitCode: number | null;
  readonly timedOut: boolean;
  /** The middle of the output was left out. */
  readonly stdoutTruncated: boolean;
  readonly stderrTruncated: boolean;
}

export interface LogOptions {
  /** Bytes from the beginning of the job's output. Default 0. */
  readonly offset?: number;
  /** Waits until there is output after `offset`, or the job has ended. */
  readonly follow?: boolean;
  readonly signal?: AbortSignal;
}

/** Output of a job: both streams, in order of arrival. */
export interface JobLog {
  readonly output: string;
  /** Where `output` begins: later than requested if earlier output was dropped. */
  readonly offset: number;
  /** The `offset` for the next request. */
  readonly nextOffset: number;
  readonly status: 'running' | 'exited' | 'killed';
  readonly exitCode: number | null;
}

export interface FolderEntry {
  readonly name: string;
  readonly kind: 'file' | 'folder' | 'link' | 'other';
}

/** File operations, which never leave the root, also not by links or races. They throw `ToolFailure`. */
export interface WorkspaceFiles {
  /** Returns undefined if there is no such file. Throws for anything but a regular file. */
  read(path: string, options: ReadOptions): Promise<FileContent | undefined>;
  /** Applies all changes or none. */
  replace(changes: readonly FileChange[]): Promise<readonly FileVersion[]>;
  /** Returns sorted paths, without files that git ignores. */
  glob(query: GlobQuery, signal?: AbortSignal): Promise<GlobAnswer>;
  grep(query: GrepQuery, signal?: AbortSignal): Promise<GrepAnswer>;
}

export interface ReadOptions {
  readonly maxBytes: number;
  /** Reads only these lines; the first line is 1. */
  readonly lines?: { readonly offset: number; readonly limit: number };
}

export interface FileContent extends FileVersion {
  /** The requested part of the content. */
  readonly bytes: Uint8Array;
  /** Number of lines of the whole file. */
  readonly lineCount: number;
  /** The file has more content than was requested. */
  readonly truncated: boolean;
}

export interface FileVersion {
  /** Relative to the root, with forward slashes. */
  readonly path: string;
  /** Bytes of the whole file. */
  readonly size: number;
  /** Hash of the whole content. */
  readonly version: string;
}

export interface FileChange {
  readonly path: string;
  readonly content: string;
  /** The version that the file must have; null: it must not exist; undefined: not checked. */
  readonly expected?: string | null;
}

export interface GlobQuery {
  readonly pattern: string;
  readonly exclude: readonly string[];
  /** The folder to search. */
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
  /** The file or folder to search. */
  readonly path: string;
  /** Searches only files that match this pattern; null: all. */
  readonly glob: string | null;
  /** Number of lines before and after each match. */
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
