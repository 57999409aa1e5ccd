// Starts a server with the fixtures, runs the conformance suite and every client against it, and prints one table.
// Arguments: names of files in `clients/`, or `conformance`; default: all. The exit code is 1 if a run failed.
import { spawn } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import type { RunReport } from './client-process.ts';
import type { Target } from './client-run.ts';
import { failuresOf, judge, type Selection } from './conformance/referee.ts';
import { startFixtureServer } from './fixture-server.ts';
import { table, type Row } from './report.ts';

const CLI = fileURLToPath(new URL('../packages/patchboard/bin/patchboard.mjs', import.meta.url));
const CLIENT_PROCESS = fileURLToPath(new URL('client-process.ts', import.meta.url));
/** Ends a client that hangs. */
const CLIENT_LIMIT_MS = 300_000;

const SUITES: readonly (Selection & { readonly era: string })[] = [
  { era: 'modern', requirements: '2026-07-28' },
  { era: 'legacy', requirements: '2025-11-25' },
  { era: 'both', suite: 'all' },
];

const clients = (await readdir(new URL('clients/', import.meta.url)))
  .filter((file) => file.endsWith('.ts') && !file.endsWith('.d.ts'))
  .map((file) => file.slice(0, -'.ts'.length))
  .toSorted();
const known = ['conformance', ...clients];
const wanted = process.argv.length > 2 ? process.argv.slice(2) : known;
const unknown = wanted.find((name) => !known.includes(name));
if (unknown !== undefined) {
  console.error(`no such client: ${unknown}; there are ${known.join(', ')}`);
  process.exit(2);
}

const server = await startFixtureServer();
const rows: Row[] = [];
try {
  const target: Target = {
    url: server.url,
    mcpUrl: `${server.url}/mcp`,
    dataFolder: server.dataFolder,
    bridge: {
      command: process.execPath,
      args: [CLI, 'mcp'],
      env: { PATCHBOARD_URL: server.url, PATH: process.env['PATH'] ?? '' },
    },
  };
  for (const name of wanted) {
    process.stderr.write(`${name}…\n`);
    rows.push(...(name === 'conformance' ? await conformance(target) : await runClient(name, target)));
  }
} finally {
  await server.stop();
}
console.log(table(rows));
process.exitCode = rows.every(({ problem }) => problem === undefined) ? 0 : 1;

async function conformance({ mcpUrl }: Target): Promise<Row[]> {
  const tested: Row[] = [];
  for (const { era, ...selection } of SUITES) {
    const results = await judge(mcpUrl, selection);
    const failures = failuresOf(results);
    const passed = results
      .flatMap(({ checks }) => checks)
      .filter(({ status }) => status === 'SUCCESS').length;
    tested.push({
      client: await versioned('@modelcontextprotocol/conformance', 'conformance/'),
      era,
      transport: 'http',
      does: `${selection.requirements ?? `suite ${selection.suite}`}: ${results.length} scenarios, ${passed} checks passed`,
      ...(failures.length === 0 ? {} : { problem: failures.join('\n') }),
    });
  }
  return tested;
}

async function runClient(name: string, target: Target): Promise<Row[]> {
  const args = [...process.execArgv, CLIENT_PROCESS, name, JSON.stringify(target)];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  const timer = setTimeout(() => child.kill('SIGKILL'), CLIENT_LIMIT_MS);
  let output = '';
  let log = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (log += text));
  const code = await new Promise((resolve) => child.once('close', resolve));
  clearTimeout(timer);
  const reports = output
    .split('\n')
    .filter((line) => line.startsWith('{"package"'))
    .map((line) => JSON.parse(line) as RunReport);
  const rows = reports.map(async ({ package: tested, ...report }) => ({
    client: await versioned(tested),
    ...report,
  }));
  if (code === 0 && reports.length > 0) return await Promise.all(rows);
  const problem = `the client ended with code ${String(code)}: ${log.slice(-2000)}`;
  return [...(await Promise.all(rows)), { client: name, era: '', transport: '', does: '', problem }];
}

/** The name of an installed package with its version. */
async function versioned(name: string, folder = ''): Promise<string> {
  const file = new URL(`${folder}node_modules/${name}/package.json`, import.meta.url);
  const { version } = JSON.parse(await readFile(file, 'utf8')) as { version: string };
  return `${name} ${version}`;
}
