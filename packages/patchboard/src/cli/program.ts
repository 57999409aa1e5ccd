import { HTTP_HINTS } from '@patchboard/wire';
import { PatchboardError } from '@patchboard/client';
import { Command, CommanderError, Help, type Option } from 'commander';
import { messageOf } from '../core/failures.ts';
import { ConfigError } from '../settings/config-file.ts';
import { EXIT, EXIT_MEANINGS, exitCodeOf, UsageError, type ExitCode } from './exit-codes.ts';
import { StoreRefused } from '../store/store-refused.ts';
import { printable } from './terminal-text.ts';

/** Adds one command to the program. */
export type Registrar = (program: Command) => void;

export interface ProgramStreams {
  out(text: string): void;
  error(text: string): void;
}

export const EXIT_CODES: string = `Exit codes: ${Object.entries(EXIT_MEANINGS)
  .map(([code, meaning]) => `${code} ${meaning}`)
  .join(', ')}.`;

export function createProgram(
  registrars: readonly Registrar[],
  version: string,
  streams: ProgramStreams,
): Command {
  const program = new Command('patchboard')
    .description('A durable tool server for AI agents.')
    .version(version)
    .showHelpAfterError('(add --help for help)')
    .configureOutput({
      writeOut: (text) => streams.out(text),
      writeErr: (text) => streams.error(text),
      outputError: (text, write) => write(text.replace(/^error: /, 'patchboard: ')),
    })
    // A long command leaves less than the default of 40 columns for its description in a terminal of 80.
    .configureHelp({ minWidthToWrap: 20, optionDescription: describeOption })
    // Throws instead of exiting: `runProgram` chooses the exit code, and output must be flushed.
    .exitOverride()
    .addHelpText('after', `\n${EXIT_CODES.replace(', 5 ', ',\n5 ')}`);
  for (const register of registrars) register(program);
  return program;
}

/** Runs one command line. Resolves to the exit code, or to null if the command sets it. */
export async function runProgram(
  program: Command,
  argv: readonly string[],
  streams: ProgramStreams,
): Promise<ExitCode | null> {
  try {
    throwIfUnknownCommand(program, argv);
    await program.parseAsync(argv, { from: 'user' });
    return null;
  } catch (error) {
    // Commander has already printed the message.
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
    const report = argv.includes('--json') ? errorJson(error) : errorText(error, argv);
    streams.error(`${report}\n`);
    return isSetup(error) ? EXIT.usage : exitCodeOf(error);
  }
}

function describeOption(option: Option): string {
  const text = new Help().optionDescription(option);
  return option.mandatory && option.defaultValue === undefined ? `${text} (required)` : text;
}

/** Without this check, commander would report an unknown command of a group as an extra argument of its default command. */
function throwIfUnknownCommand(program: Command, [name, word]: readonly string[]): void {
  const group = program.commands.find((command) => command.name() === name);
  if (group === undefined || group.commands.length === 0) return;
  if (word === undefined || word === 'help' || word.startsWith('-')) return;
  const names = group.commands.map((command) => command.name());
  if (names.includes(word)) return;
  throw new UsageError(`${name} has no command ${word}: it has ${names.join(', ')}`);
}

/** Whether the settings or the data folder prevent the start of a server. */
function isSetup(error: unknown): error is ConfigError | StoreRefused {
  return error instanceof ConfigError || error instanceof StoreRefused;
}

/** `argv`: an option that the server refuses is named as it was given. */
export function errorText(error: unknown, argv: readonly string[] = []): string {
  if (error instanceof UsageError || isSetup(error)) return `patchboard: ${printable(error.message)}`;
  // Any other error is a bug; a report needs its stack.
  if (!(error instanceof PatchboardError)) {
    return `patchboard: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`;
  }
  const lines = [`patchboard: ${withOptionNames(error.detail, argv)}`];
  for (const issue of issuesOf(error))
    lines.push(`  ${issue.path === '' ? '/' : issue.path}: ${issue.message}`);
  for (const advice of adviceOn(error)) lines.push(`  → ${advice}`);
  if (error.toolCallId !== null) lines.push(`  call ${error.toolCallId}`);
  if (error.kind === 'network') lines.push('  Is the server running? Start it with: patchboard serve');
  return printable(lines.join('\n'));
}

function errorJson(error: unknown): string {
  const message = messageOf(error);
  if (!(error instanceof PatchboardError)) {
    const code = error instanceof UsageError || isSetup(error) ? 'usage' : 'internal';
    return JSON.stringify({ error: { code, message } });
  }
  const { code, status, retryable, toolCallId, issues } = error;
  const recommendations = adviceOn(error);
  return JSON.stringify({
    error: { code, message, status, retryable, tool_call_id: toolCallId, issues, recommendations },
  });
}

/** The server names a parameter of its route, `query/cursor`; the user wrote `--cursor`. */
function withOptionNames(detail: string, argv: readonly string[]): string {
  return detail.replace(/^query\/([a-z]+)/, (place, name: string) => {
    const option = `--${name}`;
    return argv.some((word) => word === option || word.startsWith(`${option}=`)) ? option : place;
  });
}

/** Leaves out issues that the detail already contains. */
function issuesOf({ issues, detail }: PatchboardError): PatchboardError['issues'] {
  return issues.filter(({ message }) => !detail.endsWith(message) && !detail.includes(`${message};`));
}

/** Advice with variables and commands, in place of the server's advice with headers and routes. */
const ADVICE: ReadonlyMap<string, string> = new Map([
  [
    'auth_required',
    'set PATCHBOARD_KEY to a key of this server; create one with: patchboard keys create --kind agent --name NAME',
  ],
  ['tool_not_found', 'list the callable tools with: patchboard tools'],
  ['input_invalid', 'show the schema of a tool with: patchboard tools show NAME'],
]);

const FOR_HTTP: ReadonlySet<string> = new Set(Object.values(HTTP_HINTS).flat());

function adviceOn({ code, recommendations }: PatchboardError): readonly string[] {
  const own = ADVICE.get(code);
  const isForHttp = recommendations.every((advice) => FOR_HTTP.has(advice));
  return own !== undefined && isForHttp ? [own] : recommendations;
}
