import { spawn } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';

/** Which scenarios run: those of one revision, all of the suite, or a single one. */
export interface Selection {
  /** A revision of the protocol. Its scenarios run, those that are not scored included. */
  readonly requirements?: string;
  readonly suite?: string;
  /** One scenario, at the revision of `requirements`; default: the newest that has it. */
  readonly scenario?: string;
}

export interface Check {
  readonly id: string;
  readonly status: 'SUCCESS' | 'FAILURE' | 'WARNING' | 'SKIPPED' | 'INFO';
  readonly description: string;
  readonly errorMessage?: string;
}

export interface ScenarioResult {
  readonly scenario: string;
  readonly checks: readonly Check[];
}

/** For one scenario. The longest takes 5 s. */
const SCENARIO_LIMIT_MS = 20_000;
/** For a client: the longest waits for a reconnect. */
const CLIENT_LIMIT_MS = 60_000;
/** The suite takes 20 s on an idle machine. */
const TIME_LIMIT_MS = 240_000;

/** Runs the conformance suite against a server, in a process of its own, and returns the checks of each scenario. */
export async function judge(url: string, selection: Selection): Promise<ScenarioResult[]> {
  const folder = await mkdtemp(join(tmpdir(), 'patchboard-conformance-'));
  try {
    const where = ['--url', url, '--output-dir', folder, '--timeout', String(SCENARIO_LIMIT_MS)];
    const { output } = await referee(['server', ...where, ...flagsOf(selection)]);
    const started = [...output.matchAll(/^=== Running scenario: (\S+) ===$/gm)].map(([, name = '']) => name);
    const names = selection.scenario === undefined ? started : [selection.scenario];
    if (names.length === 0) throw new Error(`the conformance suite ran no scenario:\n${output}`);
    const folders = await readdir(folder);
    const results = names.map(async (scenario) => ({
      scenario,
      checks: (await checksIn(folder, folders, scenario)) ?? [unreported(output)],
    }));
    return await Promise.all(results);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Lets the suite judge a client: starts `command` with the URL of the scenario's server, and returns the checks. */
export async function judgeClient(command: string, scenario: string): Promise<Check[]> {
  const folder = await mkdtemp(join(tmpdir(), 'patchboard-conformance-'));
  try {
    const flags = ['--command', command, '--scenario', scenario, '--output-dir', folder];
    const { output } = await referee(['client', ...flags, '--timeout', String(CLIENT_LIMIT_MS)]);
    const [own] = await readdir(folder, { recursive: true }).then((files) =>
      files.filter((file) => file.endsWith('checks.json')),
    );
    if (own === undefined || output.includes('CLIENT EXITED WITH ERROR')) return [unreported(output)];
    return JSON.parse(await readFile(join(folder, own), 'utf8')) as Check[];
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The names of the client scenarios that the suite has. */
export async function clientScenarios(): Promise<string[]> {
  const { output } = await referee(['list', '--client']);
  return [...output.matchAll(/^ {2}- (\S+)/gm)].map(([, name = '']) => name);
}

/** The names of the server scenarios that the suite has, or that a revision has. */
export async function scenariosOf(revision?: string): Promise<string[]> {
  const flags = revision === undefined ? ['--server'] : ['--requirements', revision];
  const { output } = await referee(['list', ...flags]);
  const clients = output.indexOf('Client scenarios');
  const server = clients === -1 ? output : output.slice(0, clients);
  const unscored = [...output.matchAll(/^ {4}- (\S+) \[server\]$/gm)];
  return [...server.matchAll(/^ {2}- (\S+)/gm), ...unscored].map(([, name = '']) => name);
}

export function failuresOf(results: readonly ScenarioResult[]): string[] {
  return results.flatMap(({ scenario, checks }) =>
    checks
      .filter(({ status }) => status === 'FAILURE')
      .map(({ id, errorMessage, description }) => `${scenario}: ${id}: ${errorMessage ?? description}`),
  );
}

function flagsOf({ requirements, suite, scenario }: Selection): string[] {
  if (scenario === undefined)
    return requirements === undefined ? ['--suite', suite ?? 'all'] : ['--requirements', requirements];
  const at = requirements === undefined ? [] : ['--spec-version', requirements, '--force'];
  return ['--scenario', scenario, ...at];
}

/** Undefined for a scenario that is unknown or ended with an exception: it leaves no file. */
async function checksIn(
  folder: string,
  folders: readonly string[],
  scenario: string,
): Promise<Check[] | undefined> {
  // The name of a folder ends with a time.
  const own = folders.find((name) => new RegExp(`^server-${scenario}-\\d{4}-`).test(name));
  if (own === undefined) return undefined;
  return JSON.parse(await readFile(join(folder, own, 'checks.json'), 'utf8')) as Check[];
}

function unreported(output: string): Check {
  const description = 'the scenario ended without a report';
  return {
    id: 'scenario',
    status: 'FAILURE',
    description,
    errorMessage: `${description}: ${output.trim().slice(-500)}`,
  };
}

async function referee(args: readonly string[]): Promise<{ output: string }> {
  const main = createRequire(import.meta.url).resolve('@modelcontextprotocol/conformance/dist/index.js');
  const child = spawn(process.execPath, [main, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  const timer = setTimeout(() => child.kill('SIGKILL'), TIME_LIMIT_MS);
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  clearTimeout(timer);
  if (code === null) throw new Error(`the conformance suite did not end within ${TIME_LIMIT_MS / 1000} s`);
  return { output };
}
