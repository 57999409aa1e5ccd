import { commands } from './commands.ts';
import { environment } from '../settings/environment.ts';
import { processContext } from './context.ts';
import { createProgram, runProgram, type ProgramStreams } from './program.ts';
import { VERSION } from '../version.ts';

const streams: ProgramStreams = {
  out: (text) => void process.stdout.write(text),
  error: (text) => void process.stderr.write(text),
};

// `patchboard calls tail | head` closes the pipe early, which is not an error. A command that failed keeps its exit code.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  process.exit(error.code === 'EPIPE' ? process.exitCode : 1);
});

// Messages that nothing reads are lost; the command goes on, and its exit code says how it ended.
process.stderr.on('error', () => {});

const argv = process.argv.slice(2);
const program = createProgram(await commands(processContext(environment()), argv), VERSION, streams);
const code = await runProgram(program, argv, streams);
if (code !== null) process.exitCode = code;
