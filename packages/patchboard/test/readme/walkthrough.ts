import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { commands } from '../../src/cli/commands.ts';
import { processContext } from '../../src/cli/context.ts';
import { createOutput } from '../../src/cli/output.ts';
import { createProgram, runProgram } from '../../src/cli/program.ts';
import { parseConfig } from '../../src/settings/config-file.ts';
import { aFixedPort } from '../support/a-fixed-port.ts';
import { runCommand, startCommand, type Finished, type Running } from '../support/run-command.ts';
import { pythonWithRequests } from '../support/python.ts';
import { cleanEnvironment, ROOT, startServer } from '../support/server-process.ts';
import { misfit, withIds, type Bindings } from './expected-output.ts';
import { blocksOf, type Block } from './markdown.ts';

/**
 * Documented commands that are not run here, because they download, do not end, end local mode, or need a file of the reader.
 * upstream-guides.test.ts runs those that add upstreams.
 * packages.test.ts runs those that install.
 */
const NOT_RUN =
  /^(git clone \S+|cd patchboard|npm ci|npm start|npm test|npm run \w+( -- [\w -]+)?|npm install( \.\.\/patchboard\/packages\/\w+)+|sudo .*|docker .*|kubectl .*|npx patchboard keys create --kind service .*|pip install .*|npx patchboard serve|npx patchboard mcp add files .*|npx patchboard mcp import ~\/\S+|npx patchboard openapi add shop \.\/shop\.yaml)( *#.*)?$/;

/**
 * The marks of blocks that are only read, or that another test or command takes: `fragment` guides.test.ts, `postgres` and `nodes`
 * the tests of their guides, `compose` and `kubernetes` those of the manifests.
 */
const ELSEWHERE = /^(picture|fragment|npm run interop|(postgres|nodes|compose|kubernetes)( .*)?)$/;

/** Runs the blocks of a document in order against a fresh server and returns the differences. */
export async function walkThrough(file: string): Promise<string[]> {
  const problems: string[] = [];
  const folder = mkdtempSync(join(tmpdir(), 'patchboard-readme-'));
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  const server = await startServer();
  symlinkSync(server.dataFolder, join(folder, '.patchboard'));
  const reader = new Reader(folder, server.port, String(await aFixedPort()));
  try {
    for (const block of blocksOf(readFileSync(join(ROOT, file), 'utf8'))) {
      const problem = await reader.take(block);
      if (problem !== null) problems.push(`${file}:${block.line}: ${problem}`);
    }
  } finally {
    await reader.end();
    const code = await server.stop();
    if (code !== 0) problems.push(`the server did not stop cleanly: exit code ${code}: ${server.log()}`);
    rmSync(folder, { recursive: true, force: true });
  }
  return problems;
}

/** Runs the blocks as a reader would. */
class Reader {
  readonly #folder: string;
  readonly #port: string;
  readonly #ids: Bindings = new Map();
  readonly #env: Record<string, string>;
  #last: Finished | null = null;
  readonly #apiPort: string;
  #background: Running | null = null;
  /** Programs that run until the end of the document. */
  readonly #servers: Running[] = [];
  #files = 0;

  constructor(folder: string, port: string, apiPort: string) {
    this.#folder = folder;
    this.#port = port;
    this.#apiPort = apiPort;
    const path = `${join(ROOT, 'node_modules', '.bin')}${delimiter}${process.env['PATH'] ?? ''}`;
    // The CLI finds the server by PORT.
    this.#env = {
      ...cleanEnvironment(),
      PATH: path,
      PORT: port,
    };
  }

  async take(block: Block): Promise<string | null> {
    if (block.mark !== null && ELSEWHERE.test(block.mark)) return null;
    if (block.mark?.startsWith('mcp config ') === true) return await this.#paste(block, block.mark);
    switch (block.language) {
      case 'sh':
        return await this.#type(block);
      case 'ts':
        // guides.test.ts checks the types of one that is not run.
        return block.mark === 'not run' ? null : await this.#program(block, process.execPath);
      case 'py':
        return await this.#program(block, pythonWithRequests());
      case 'json':
      case 'text':
      case 'toml':
        return this.#compare(block);
      case 'yaml':
        parseConfig(block.code, 'patchboard.yaml');
        return null;
      default:
        return `a block of "${block.language}" cannot be tested`;
    }
  }

  /** Text to paste into an MCP client must be what the command in the mark prints. */
  async #paste({ language, code }: Block, command: string): Promise<string | null> {
    const dataFolder = join(this.#folder, '.patchboard');
    const run = await runInProcess(command.split(' '), { ...this.#env, PATCHBOARD_DATA: dataFolder });
    if (run.code !== 0) return problemWith(run);
    const written = JSON.parse(run.out) as { config: unknown; text: string; command?: string };
    const isJson = language === 'json';
    const shown = this.#atOurPort(isJson ? JSON.stringify(JSON.parse(code)) : code);
    const printed = isJson
      ? JSON.stringify(written.config)
      : ((language === 'sh' ? written.command : written.text) ?? '');
    return misfit('text', shown, printed, this.#ids);
  }

  async leave(): Promise<void> {
    await this.#background?.stop();
    this.#background = null;
  }

  async end(): Promise<void> {
    await this.leave();
    for (const running of this.#servers) await running.stop();
  }

  async #type(block: Block): Promise<string | null> {
    if (block.mark === 'not run') {
      const commands = block.code.replaceAll('\\\n', ' ').split('\n');
      const unknown = commands.filter((line) => line !== '' && !NOT_RUN.test(line));
      return unknown.length === 0 ? null : `not run, but it could be: ${unknown.join('; ')}`;
    }
    const code = this.#atOurPort(withIds(block.code, this.#ids));
    const options = { cwd: this.#folder, env: this.#env };
    if (block.mark === 'background' || block.mark === 'background to the end') {
      // Without npx, which does not forward signals.
      const running = startCommand('bash', ['-c', code.replace(/^npx /, 'exec ')], options);
      await running.says(/\n/);
      await this.leave();
      if (block.mark === 'background to the end') {
        this.#servers.push(running);
        return null;
      }
      this.#background = running;
      return null;
    }
    this.#last = await runCommand('bash', ['-euo', 'pipefail', '-c', code], options);
    await this.leave();
    return problemWith(this.#last);
  }

  async #program(block: Block, interpreter: string): Promise<string | null> {
    this.#files += 1;
    const file = join(this.#folder, `block-${this.#files}.${block.language}`);
    const text = withIds(block.code, this.#ids).replaceAll(':8080', `:${this.#port}`);
    writeFileSync(file, text);
    // Saved as the document says.
    if (block.language === 'ts') writeFileSync(join(this.#folder, 'program.ts'), text);
    const running = startCommand(interpreter, [file], { cwd: this.#folder, env: this.#env });
    if (block.mark === 'background') {
      // Its first line means that it is ready; it runs until the next command has run.
      await running.says(/\n/);
      await this.leave();
      this.#background = running;
      return null;
    }
    this.#last = await running.finished;
    return problemWith(this.#last);
  }

  #compare(block: Block): string | null {
    if (this.#last === null) return 'output of nothing';
    const { out } = this.#last;
    this.#last = null;
    return misfit(block.language, this.#atOurPort(block.code), out, this.#ids);
  }

  #atOurPort(text: string): string {
    return text
      .replaceAll(/(localhost|127\.0\.0\.1):8080/g, `$1:${this.#port}`)
      .replaceAll(/\b8090\b/g, this.#apiPort);
  }
}

/** Runs a command without the second that a process takes to start: a guide shows many of these. */
async function runInProcess(
  words: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<Finished> {
  let [out, error] = ['', ''];
  const stdout = { write: (text: string) => void (out += text) };
  const stderr = { write: (text: string) => void (error += text) };
  const context = { ...processContext(env), output: createOutput({ stdout, stderr, noColour: true }) };
  const streams = { out: stdout.write, error: stderr.write };
  const program = createProgram(await commands(context, words), '0.0.0', streams);
  const code = await runProgram(program, [...words, '--json'], streams);
  return { code: code ?? 0, out, error };
}

function problemWith({ code, out, error }: Finished): string | null {
  return code === 0 ? null : `exit code ${code}: ${out}${error}`;
}
