import { reason } from '@patchboard/wire';
import type { JobLog } from '../../../core/sandbox.ts';
import type { ServerTool, ToolContext } from '../../../core/tools/server-tool.ts';
import { argumentsOf, count, FLAG, object, PATH, refuse, renamed, TEXT } from '../contract.ts';
import type { Ask, EnclosureFacts, WorkspaceRules } from '../rules.ts';
import { findDanger } from './find-danger.ts';

interface RunArguments {
  readonly command: string;
  readonly timeout_ms?: number;
  readonly background?: boolean;
  readonly cwd?: string;
  readonly network?: boolean;
}

const MAX_COMMAND = 64 * 1024;
const MAX_FOREGROUND_MS = 600_000;
const FOLLOW_MS = 20_000;
const EMIT_EVERY_MS = 100;
const MAX_EMITTED_CHARACTERS = 8000;
const JOB = { type: 'string', minLength: 1, maxLength: 64, description: 'the pid that bash_run answered' };
const JOB_NAMES = { job_id: 'pid', bash_id: 'pid', shell_id: 'pid' };
const JOB_STATUS = {
  pid: TEXT,
  status: { enum: ['running', 'exited', 'killed'] },
  exitCode: { type: ['integer', 'null'] },
};

export function bashTools(rules: WorkspaceRules): ServerTool[] {
  return [runTool(rules), logsTool(rules), killTool(rules)];
}

function runTool(rules: WorkspaceRules): ServerTool {
  return rules.writes({
    name: 'bash_run',
    description: describeRun(rules.facts),
    inputSchema: object(
      {
        command: { type: 'string', minLength: 1, maxLength: MAX_COMMAND },
        timeout_ms: count(1, 86_400_000, 'milliseconds until everything it started is killed'),
        background: FLAG,
        cwd: { ...PATH, description: 'folder to run it in' },
        network: { ...FLAG, description: describeNetwork(rules.facts) },
      },
      ['command'],
    ),
    outputSchema: {
      type: 'object',
      properties: {
        stdout: TEXT,
        stderr: TEXT,
        exitCode: { type: ['integer', 'null'], description: 'null: it was killed' },
        timedOut: FLAG,
        stdoutTruncated: FLAG,
        stderrTruncated: FLAG,
        pid: TEXT,
        status: { const: 'running' },
      },
      additionalProperties: false,
    },
    timeoutMs: MAX_FOREGROUND_MS + 10_000,
    spell: (args) =>
      renamed(args, { cmd: 'command', timeout: 'timeout_ms', run_in_background: 'background' }),
    approvalFor,
    reach: (user) => reason('command_without_sandbox', { user }),
    execute: async (args, context) => await run(argumentsOf<RunArguments>(args), context),
  });
}

/** The description states what commands can access on this server. */
function describeRun(facts: EnclosureFacts): string {
  return `Run a shell command in the workspace. ${reachOf(facts)} background returns at once with a pid for bash_logs and bash_kill.`;
}

function reachOf({ provider, refusal, user }: EnclosureFacts): string {
  if (provider !== 'none')
    return 'It sees the workspace and the system read-only, and no network unless it asks for it and the operator allows it.';
  if (refusal !== null) return 'Off on this server: it has no sandbox.';
  return `NO SANDBOX: it runs as the user ${user} of the server, can read and change every file of that user, and has the network.`;
}

function describeNetwork({ provider }: EnclosureFacts): string {
  return provider === 'none' ? 'no sandbox: commands have it without asking' : 'needs the network';
}

async function run(
  { command, timeout_ms: timeoutMs, background = false, cwd, network = false }: RunArguments,
  context: ToolContext,
): Promise<unknown> {
  const { sandbox, signal } = context;
  const options = {
    network,
    ...(cwd === undefined ? {} : { cwd }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
  };
  if (background) return { pid: await sandbox.execBackground(command, options), status: 'running' };
  if (timeoutMs !== undefined && timeoutMs > MAX_FOREGROUND_MS)
    throw refuse('input_invalid', reason('foreground_timeout', { most: MAX_FOREGROUND_MS }));
  const live = new LiveOutput((data) => context.progress(data));
  try {
    return await sandbox.exec(command, {
      ...options,
      signal,
      onOutput: (stream, text) => live.push(stream, text),
    });
  } finally {
    live.flush();
  }
}

/** Emits the newest output a few times a second, because an event for each line would be too many. */
class LiveOutput {
  readonly #emit: (data: { stream: string; text: string }) => void;
  readonly #buffers: Map<string, string> = new Map();
  #timer: NodeJS.Timeout | null = null;

  constructor(emit: (data: { stream: string; text: string }) => void) {
    this.#emit = emit;
  }

  push(stream: 'stdout' | 'stderr', text: string): void {
    const buffered = (this.#buffers.get(stream) ?? '') + text;
    this.#buffers.set(stream, buffered.slice(-MAX_EMITTED_CHARACTERS));
    this.#timer ??= setTimeout(() => this.flush(), EMIT_EVERY_MS);
  }

  flush(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    for (const [stream, text] of this.#buffers) this.#emit({ stream, text });
    this.#buffers.clear();
  }
}

/** A dangerous command requires approval even if a policy or a grant allows commands. */
function approvalFor(args: unknown): Ask | undefined {
  const danger = findDanger(argumentsOf<RunArguments>(args).command);
  if (danger === null) return undefined;
  return {
    decision: 'ask',
    reasons: [danger.reason],
    meta: { risk: 'high', rule: danger.rule },
  };
}

function logsTool(rules: WorkspaceRules): ServerTool {
  const tool = rules.reads({
    name: 'bash_logs',
    description:
      'What a command in the background has written, from an offset on. follow waits a while for more. Ask again from nextOffset.',
    inputSchema: object(
      { pid: JOB, offset: count(0, Number.MAX_SAFE_INTEGER, 'bytes from the beginning'), follow: FLAG },
      ['pid'],
    ),
    outputSchema: object(
      { ...JOB_STATUS, output: TEXT, offset: { type: 'integer' }, nextOffset: { type: 'integer' } },
      ['pid', 'status', 'exitCode', 'output', 'offset', 'nextOffset'],
    ),
    spell: (args) => renamed(args, JOB_NAMES),
    execute: async (args, { sandbox, signal }) => {
      const { pid, ...options } = argumentsOf<{ pid: string; offset?: number; follow?: boolean }>(args);
      const timeout = new AbortController();
      const timer = options.follow === true ? setTimeout(() => timeout.abort(), FOLLOW_MS) : undefined;
      let log: JobLog | undefined;
      try {
        log = await sandbox.logs(pid, { ...options, signal: AbortSignal.any([signal, timeout.signal]) });
      } catch (error) {
        if (!timeout.signal.aborted || signal.aborted) throw error;
        log = await sandbox.logs(pid, { ...options, follow: false });
      } finally {
        clearTimeout(timer);
      }
      return { pid, ...found(log, pid) };
    },
  });
  return tool;
}

function killTool(rules: WorkspaceRules): ServerTool {
  const tool = rules.reads({
    name: 'bash_kill',
    description: 'End a command in the background and everything it started.',
    inputSchema: object({ pid: JOB }, ['pid']),
    outputSchema: object(JOB_STATUS, ['pid', 'status', 'exitCode']),
    spell: (args) => renamed(args, JOB_NAMES),
    execute: async (args, { sandbox }) => {
      const { pid } = argumentsOf<{ pid: string }>(args);
      const { status, exitCode } = found(await sandbox.kill(pid), pid);
      return { pid, status, exitCode };
    },
  });
  // It ends only commands of its own run, so it needs no approval, although it is not read-only.
  return { ...tool, annotations: { readonly: false, destructive: false, idempotent: true } };
}

/** Throws for an unknown job; a job of another run is unknown. */
function found(log: JobLog | undefined, pid: string): JobLog {
  if (log === undefined) throw refuse('tool_failed', reason('job_unknown', { pid }));
  return log;
}
