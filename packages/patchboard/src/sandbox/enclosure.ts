import type { SandboxName } from '@patchboard/wire';

/** What a command may use. */
export interface CommandLimits {
  /** Seconds of processor time of one process. */
  readonly cpuSeconds: number;
  /** Processes and threads at once, all of them together. */
  readonly processes: number;
  /** Largest file that may be written. */
  readonly fileBytes: number;
  /** Of what a command writes to stdout and stderr, each; the middle of more is dropped. */
  readonly outputBytes: number;
  /** Milliseconds until a command in the foreground is killed, unless it says otherwise. */
  readonly timeoutMs: number;
  /** The same for a command in the background. */
  readonly jobMs: number;
}

/** Who commands run as, where that can differ from who the server runs as. */
export interface SandboxUser {
  readonly uid: number;
  readonly gid: number;
}

export interface EnclosedCommand {
  /** A program and its arguments; no shell looks at them. */
  readonly argv: readonly string[];
  /** The folder it may change. */
  readonly root: string;
  /** Inside the root. */
  readonly cwd: string;
  readonly network: boolean;
  /** Besides what every command gets. */
  readonly environment: Readonly<Record<string, string>>;
  /** Null: as the server itself. */
  readonly user: SandboxUser | null;
}

export interface CommandLine {
  readonly file: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** A way to shut a command in. It only says how to start it; starting and ending are the same for all. */
export interface Enclosure {
  readonly name: SandboxName;
  /** Killing the process that was started ends everything it started, whatever that did to get away. */
  readonly killsTrees: boolean;
  /** Where the tools of our own are, as a command sees them. */
  readonly tools: OwnTools;
  wrap(command: EnclosedCommand): CommandLine;
}

/** Programs of ours that run enclosed. */
export interface OwnTools {
  readonly node: string;
  readonly ripgrep: string;
  /** The program that reads and writes files. */
  readonly fileServer: string;
}

/** What every enclosure is made from. */
export interface EnclosureOptions {
  readonly tools: OwnTools;
  readonly limits: CommandLimits;
  /** Variables that commands get besides the few that all get. */
  readonly environment: Readonly<Record<string, string>>;
  /** Folders besides the system's that commands may read. */
  readonly readable: readonly string[];
  /** Where the program that encloses is looked for. */
  readonly searchPath: string;
  /** Holds the files that are shown to commands in place of the system's. */
  readonly stateFolder: string;
}
