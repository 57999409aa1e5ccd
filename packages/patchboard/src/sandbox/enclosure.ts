import type { SandboxName } from '@patchboard/wire';

/** Resource limits of a command. */
export interface CommandLimits {
  /** CPU seconds per process; `Infinity`: no limit. */
  readonly cpuSeconds: number;
  /** Concurrent processes and threads of the command in total. */
  readonly processes: number;
  /** Maximum size of a written file. */
  readonly fileBytes: number;
  /** Kept bytes of stdout and of stderr, each; the middle of longer output is dropped. */
  readonly outputBytes: number;
  /** Default timeout of a command in the foreground. */
  readonly timeoutMs: number;
  /** Default timeout of a command in the background. */
  readonly jobMs: number;
}

/** The user that commands run as, if it differs from the user of the server. */
export interface SandboxUser {
  readonly uid: number;
  readonly gid: number;
}

export interface EnclosedCommand {
  /** A program and its arguments; no shell interprets them. */
  readonly argv: readonly string[];
  /** The folder that the command may change. */
  readonly root: string;
  /** The working directory, inside the root. */
  readonly cwd: string;
  readonly network: boolean;
  /** Additional variables for this command. */
  readonly environment: Readonly<Record<string, string>>;
  /**
   * Default: the command waits for the server at descriptor 3, and so never starts without it; its environment is
   * `environment`. True: a program that ends with its standard input; it starts at once, and its environment, besides
   * `environment`, is that of the started process, because arguments are visible to other users.
   */
  readonly isService?: boolean;
  /** Null: run as the server's user. */
  readonly user: SandboxUser | null;
}

export interface CommandLine {
  readonly file: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** A kind of sandbox. It only builds the command line; `EnclosedProcess` starts and ends the process. */
export interface Enclosure {
  readonly name: SandboxName;
  /** Whether killing the started process reliably ends all its descendants. */
  readonly killsTrees: boolean;
  /** Paths of Patchboard's own programs inside the sandbox. */
  readonly tools: OwnTools;
  wrap(command: EnclosedCommand): CommandLine;
}

/** Patchboard's own programs that run in the sandbox. */
export interface OwnTools {
  readonly node: string;
  readonly ripgrep: string;
  /** The program that reads and writes files. */
  readonly fileServer: string;
}

export interface EnclosureOptions {
  readonly tools: OwnTools;
  readonly limits: CommandLimits;
  /** Additional variables for all commands. */
  readonly environment: Readonly<Record<string, string>>;
  /** Additional folders that commands may read. */
  readonly readable: readonly string[];
  /** The PATH on which the sandbox program is found. */
  readonly searchPath: string;
  /** Holds the files that are mounted in place of system files. */
  readonly stateFolder: string;
}
