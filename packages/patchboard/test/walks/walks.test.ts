import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { tablesOf } from '../readme/markdown.ts';
import { aSchema, sharedPostgres } from '../services/shared-postgres.ts';
import { ROOT } from '../support/server-process.ts';
import { waitFor } from '../support/wait-for.ts';
import { aCountingServer, TOKEN, type CountingServer } from './a-counting-server.ts';
import type { Counts } from './counters.ts';
import {
  aDevice,
  anApi,
  aQueueClient,
  asText,
  ECHO,
  embedded,
  overClient,
  overCommandLine,
  overHttp,
  overLegacyMcp,
  overModernMcp,
  overTenantApi,
  type Walk,
} from './ways.ts';

const WARM_UP = 3;
/** The least of several: what a server does in the background is not part of a call. */
const MEASURED = 5;
/** Of a number that the page says is about right. */
const TOLERANCE = 0.25;

/** Returns what one walk costs the servers together. */
async function costOf(walk: Walk, ...servers: readonly CountingServer[]): Promise<Counts> {
  for (let count = 0; count < WARM_UP; count += 1) await walk();
  const costs: Counts[] = [];
  for (let count = 0; count < MEASURED; count += 1) {
    for (const server of servers) await server.take();
    await walk();
    costs.push(together(await Promise.all(servers.map((server) => server.take()))));
  }
  const least = (name: Exclude<keyof Counts, 'files'>): number =>
    Math.min(...costs.map((cost) => cost[name]));
  const [first, ...others] = costs.map(({ files }) => new Set(files));
  return {
    files: [...(first ?? [])].filter((file) => others.every((files) => files.has(file))),
    lookUps: least('lookUps'),
    argumentTexts: least('argumentTexts'),
    resultTexts: least('resultTexts'),
    commits: least('commits'),
    statements: least('statements'),
    roundTrips: least('roundTrips'),
  };
}

function together(counts: readonly Counts[]): Counts {
  const sum = (name: Exclude<keyof Counts, 'files'>): number =>
    counts.reduce((total, count) => total + count[name], 0);
  return {
    files: [...new Set(counts.flatMap(({ files }) => files))],
    lookUps: sum('lookUps'),
    argumentTexts: sum('argumentTexts'),
    resultTexts: sum('resultTexts'),
    commits: sum('commits'),
    statements: sum('statements'),
    roundTrips: sum('roundTrips'),
  };
}

/** The cells of a row of docs/walks.md, after its name. */
function documented(column: string, row: string): readonly string[] {
  const tables = tablesOf(readFileSync(join(ROOT, 'docs/walks.md'), 'utf8'));
  const [, ...rows] = tables.find(([head = []]) => head[0] === column) ?? [];
  const found = rows.find(([first]) => first === row);
  if (found === undefined) throw new Error(`docs/walks.md has no row "${row}" under "${column}"`);
  return found.slice(1);
}

/** A cell that reads `about 5` names a number that depends on timers, or on how the code is split into files. */
function expectDocumented(column: string, row: string, measured: readonly number[]): void {
  const cells = documented(column, row);
  const shown = measured.map((number, index) => {
    const about = Number(/^about (\d+)$/.exec(cells[index] ?? '')?.[1]);
    return Math.abs(number - about) <= about * TOLERANCE ? `about ${about}` : String(number);
  });
  expect.soft({ row, measured: shown }).toEqual({ row, measured: cells });
}

function onSqlite(cost: Counts): readonly number[] {
  const { files, lookUps, argumentTexts, resultTexts, commits, statements } = cost;
  return [files.length, lookUps, argumentTexts, resultTexts, commits, statements];
}

describe('on SQLite', () => {
  let server: CountingServer;

  beforeAll(async () => {
    const upstream = await aCountingServer('');
    server = await aCountingServer(
      [
        'tenants: { default: { sites: [here] } }',
        `upstreams: { up: { url: '${upstream.url}/mcp', tools: [walk*] } }`,
        `openapi: { api: { description: '${await anApi()}' } }`,
      ].join('\n'),
    );
    await aDevice(server.url, 'walk.device');
    await aQueueClient(server.url, 'walk.queue');
  });

  const waysIn: readonly (readonly [string, () => Walk | Promise<Walk>])[] = [
    ['HTTP, `POST /v1/tools/:name/invoke`', () => overHttp(server.url, ECHO)],
    ['tenant API, `POST /api/tools/call`', () => overTenantApi(server.url)],
    ['MCP 2026-07-28, `tools/call`', () => overModernMcp(server.url)],
    ['MCP 2025-11-25, `tools/call`', () => overLegacyMcp(server.url)],
    ['text of a model, `POST /v1/tool_calls/batch`', () => asText(server.url)],
    ['`client.call` of `@patchboard/client`', () => overClient(server.url)],
    ['`patchboard call`', () => overCommandLine(server.url)],
    ['`board.call`, store in memory', () => embedded(server)],
  ];

  it.each(waysIn)('a call by %s costs what docs/walks.md says', async (row, way) => {
    const cost = await costOf(await way(), server);
    expectDocumented('way in', row, onSqlite(cost));
  });

  const waysOfRunning: readonly (readonly [string, string])[] = [
    ['in process', ECHO],
    ['device', 'walk.device'],
    ['client queue', 'walk.queue'],
    ['upstream MCP server', 'up.walk__echo'],
    ['HTTP API', 'api.echo'],
  ];

  it.each(waysOfRunning)('a call that runs by %s costs what docs/walks.md says', async (row, tool) => {
    const walk = overHttp(server.url, tool);
    await waitFor(walk);
    const cost = await costOf(walk, server);
    expectDocumented('way of running', row, onSqlite(cost));
  });
});

describe('on PostgreSQL', () => {
  it('a call costs what docs/walks.md says, alone and with a peer', async () => {
    const service = await sharedPostgres(15);
    const config = `store: { schema: ${aSchema(service)} }`;
    const headers = { authorization: `Bearer ${TOKEN}` };
    const measure = async (row: string, walk: Walk, ...servers: readonly CountingServer[]): Promise<void> => {
      await waitFor(walk);
      const { files, commits, roundTrips } = await costOf(walk, ...servers);
      expectDocumented('nodes', row, [files.length, commits, roundTrips]);
    };
    const one = await aCountingServer(config, service.url);
    await measure('one node', overHttp(one.url, ECHO, headers), one);
    const other = await aCountingServer(config, service.url);
    await measure('with a peer, in process', overHttp(one.url, ECHO, headers), one, other);
    await aDevice(other.url, 'walk.device', TOKEN);
    await measure('with a peer that has the device', overHttp(one.url, 'walk.device', headers), one, other);
  });
});
