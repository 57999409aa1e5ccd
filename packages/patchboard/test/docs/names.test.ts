import { EVENT_TYPES, FAILURE_CODES, type ToolView } from '@patchboard/wire';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { CHANNELS, type AgentEventType } from '../../src/agent/events/events.ts';
import type { AgentOptions } from '../../src/agent/options.ts';
import { CONFIG_SCHEMA } from '../../src/settings/config-schema.ts';
import { EXIT_MEANINGS } from '../../src/cli/exit-codes.ts';
import { EXIT_CODES } from '../../src/cli/program.ts';
import type { StopReason } from '../../src/core/agent-handle.ts';
import { SCOPES } from '../../src/core/access/scopes.ts';
import { ROUTES } from '../../src/wiring/apis.ts';
import { DEVICE_FRAMES, GATEWAY_FRAMES } from '../../src/transports/device-gateway/frames.ts';
import { CLUSTER_METRICS } from '../../src/transports/shared/http/cluster-metrics.ts';
import { METRICS } from '../../src/transports/shared/http/metrics.ts';
import { ERROR_TYPES } from '../../src/transports/tenant-api/error-types.ts';
import { blocksOf, codeSpansOf, headingsOf, tablesOf } from '../readme/markdown.ts';
import { ROOT, startServer } from '../support/server-process.ts';
import { allOptions, collectMembers, commandProblem, isRoute, wireNames } from './vocabulary.ts';

/** Pages that must be current. Decisions and the changelog are historical; the reference is generated. */
const PAGES = [
  'README.md',
  'README.zh-CN.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'examples/README.md',
  ...['client', 'console', 'patchboard', 'wire'].map((name) => `packages/${name}/README.md`),
  ...['docs', 'docs/guides', 'docs/zh-CN'].flatMap((folder) =>
    readdirSync(join(ROOT, folder))
      .filter((name) => name.endsWith('.md'))
      .map((name) => `${folder}/${name}`),
  ),
];

function read(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}

/** First cells of the tables whose first heading is `title`, without backquotes. */
function firstCells(path: string, title: string): string[] {
  return tablesOf(read(path))
    .filter(([head = []]) => head[0] === title)
    .flatMap(([, ...rows]) => rows.map(([first = '']) => codeSpansOf(first)[0] ?? first));
}

let toolWords: ReadonlySet<string> = new Set();
/** Tool names of all packs. */
let offered: readonly string[] = [];

beforeAll(async () => {
  const server = await startServer();
  const tools: ToolView[] = [];
  for (const tenant of ['default', 'yantian']) {
    const headers = {
      authorization: `Bearer ${readFileSync(join(server.dataFolder, 'operator.token'), 'utf8').trim()}`,
      'x-tenant-id': tenant,
    };
    const response = await fetch(`${server.url}/v1/tools`, { headers });
    tools.push(...((await response.json()) as { tools: ToolView[] }).tools);
  }
  const prompts = (await (await fetch(`${server.url}/v1/prompts`)).json()) as {
    prompts: { name: string; arguments: { name: string }[] }[];
  };
  await server.stop();
  offered = [...new Set(tools.map(({ name }) => name))];
  const words = new Set(offered);
  collectMembers(tools, words);
  for (const prompt of prompts.prompts) for (const { name } of [prompt, ...prompt.arguments]) words.add(name);
  toolWords = words;
}, 60_000);

describe.each(PAGES)('%s', (page) => {
  const text = read(page);
  const spans = codeSpansOf(text);

  it('names routes that exist', () => {
    const named = spans.flatMap((span) => {
      const [, method = null, path] =
        /^(?:(GET|POST|PUT|DELETE) )?(\/(?:v1|api|internal)\/\S+)/.exec(span) ?? [];
      return path === undefined ? [] : [{ span, method, path }];
    });
    const unknown = named.filter(({ method, path }) => !isRoute(method, path.replace(/[,.]$/, '')));
    expect(unknown.map(({ span }) => span)).toEqual([]);
  });

  it('names commands and options that exist', () => {
    const typed = blocksOf(text)
      .filter(({ language }) => language === 'sh')
      .flatMap(({ code }) => code.split('\n'))
      .map((line) => line.replace(/ \| .*$/, ''));
    const lines = [...spans, ...typed].flatMap((line) => {
      const [command] = /(?<![\w@/-])patchboard (?=[a-z-])[^|>]*/.exec(line) ?? [];
      return command === undefined || /^patchboard (node|at|is|env)\b/.test(command)
        ? []
        : [command.replaceAll(/'[^']*'/g, 'X')];
    });
    const problems = lines.flatMap((line) => commandProblem(line) ?? []);
    expect(problems).toEqual([]);
    const options = spans
      .filter((span) => /^--[a-z]/.test(span))
      .map((span) => span.split(/[ =]/)[0] ?? span);
    const known = allOptions();
    expect(options.filter((option) => !known.has(option) && !FOREIGN.has(option))).toEqual([]);
  });

  it('names config keys that exist', () => {
    const keys = configKeys();
    const named = spans.filter((span) =>
      /^(http|auth|tenants|devices|workspace|rates|retention|limits|upstreams|openapi)\.[\w.]+$/.test(span),
    );
    const asKey = (span: string): string =>
      span.replaceAll(/[a-z][A-Z]/g, (pair) => `${pair[0]}_${pair[1]?.toLowerCase()}`);
    expect(
      named.filter((span) => !keys.has(asKey(span)) && span !== BOARD_OPTION && !span.endsWith('.json')),
    ).toEqual([]);
  });

  it('names codes, events, metrics and members that exist', () => {
    const blocks = blocksOf(text)
      .map(({ code }) => code)
      .join('\n');
    const known = new Set([
      ...wireNames(),
      ...configWords(),
      ...Object.keys({ ...METRICS, ...CLUSTER_METRICS }),
      ...OWN_WORDS,
      ...Object.keys({ ...AGENT_EVENTS, ...STOP_REASONS }),
      ...toolWords,
    ]);
    const named = spans.filter((span) => /^[a-z]+(_[a-z0-9]+)+$/.test(span));
    expect(named.filter((span) => !known.has(span) && !blocks.includes(span))).toEqual([]);
  });
});

/** Of `createPatchboard`; the config file has it under `auth`. */
const BOARD_OPTION = 'http.jwt';
/** Options of other programs. */
const FOREIGN = new Set(['--network', '--init', '--keep', '--bus', '--rounds', '--seed', '--plant']);
/** Further names with an underscore that pages use: events and members that no route declares. */
const OWN_WORDS: readonly string[] = [
  'tool_request',
  'tool_cancel',
  // Programs, settings and functions of PostgreSQL and PgBouncer, and tables of the store.
  'pg_dump',
  'pg_stat_statements',
  'plan_cache_mode',
  'pg_restore',
  'enable_seqscan',
  'full_page_writes',
  'synchronous_commit',
  'default_transaction_read_only',
  'synchronous_standby_names',
  'statement_timeout',
  'idle_in_transaction_session_timeout',
  'lock_timeout',
  'max_connections',
  'max_prepared_statements',
  'pool_mode',
  'shared_buffers',
  'open_calls',
  'ended_calls',
  'indexed_calls',
  'indexed_refusals',
  'indexed_names',
  'index_state',
  'call_metrics',
  // Codes of parse problems.
  'request_nested',
  'problems_omitted',
  // A server has no model and does not offer it; an alias of a parameter is in no schema.
  'task_run',
  'file_path',
  'old_string',
  'new_string',
  'run_in_background',
  'file_changed',
  // An argument of `patchboard__result`, which only MCP clients see.
  'wait_seconds',
  // A table of the store; a tool of `patchboard device demo`.
  'ledger_head',
  'device_info',
  // The argument of a parameter `id` of an OpenAPI description that is there twice.
  'query_id',
  // Parameters of a database URL, which libpq names.
  'application_name',
  'channel_binding',
  'connect_timeout',
];

function configKeys(): Set<string> {
  const keys = new Set<string>();
  const walk = (schema: unknown, path: readonly string[]): void => {
    if (path.length > 0) keys.add(path.join('.'));
    const { properties = {}, additionalProperties } = schema as {
      properties?: Record<string, unknown>;
      additionalProperties?: unknown;
    };
    for (const [key, inner] of Object.entries(properties)) walk(inner, [...path, key]);
    if (typeof additionalProperties === 'object') walk(additionalProperties, [...path, 'NAME']);
  };
  walk(CONFIG_SCHEMA, []);
  return keys;
}

function configWords(): Set<string> {
  const words = new Set<string>();
  collectMembers(CONFIG_SCHEMA, words);
  return words;
}

describe('what exists', () => {
  it('every route, and no other, is in the reference', () => {
    const described = headingsOf(read('docs/reference/routes.md')).filter(({ level }) => level === 3);
    const there = ROUTES.map(({ method, url }) => `${method} ${url}`);
    expect(described.map(({ text }) => text).toSorted()).toEqual(there.toSorted());
  });

  it('every code, metric and event, and no other, is in the reference', () => {
    expect(firstCells('docs/reference/errors.md', 'code')).toEqual(FAILURE_CODES);
    expect(firstCells('docs/reference/metrics.md', 'name')).toEqual(
      Object.keys({ ...METRICS, ...CLUSTER_METRICS }),
    );
    const events = firstCells('docs/reference/events.md', 'event');
    expect(events).toEqual([...EVENT_TYPES, 'tool_request', 'tool_cancel']);
    expect(firstCells('docs/reference/events.md', 'a device sends')).toEqual([...DEVICE_FRAMES.keys()]);
    expect(firstCells('docs/reference/events.md', 'the server sends')).toEqual([...GATEWAY_FRAMES.keys()]);
  });

  it.each(['docs/configuration.md', 'docs/zh-CN/configuration.md', 'docs/reference/errors.md'])(
    'every error_type, and no other, is in %s',
    (page) => {
      expect(firstCells(page, 'error_type')).toEqual(Object.keys(ERROR_TYPES));
    },
  );

  it('every tool that comes with it, and no other, is in the table of both READMEs', () => {
    for (const page of ['README.md', 'README.zh-CN.md']) {
      const packs =
        tablesOf(read(page)).find(([, ...rows]) => rows.some(([name]) => name === 'heritage')) ?? [];
      const named = packs.flatMap(([, listed = '']) => codeSpansOf(listed));
      expect(named.toSorted()).toEqual([...offered, 'task_run'].toSorted());
    }
  });

  it('every exit code, and no other, is in both languages', () => {
    expect(read('docs/cli.md')).toContain(EXIT_CODES);
    const chinese = /^退出码：(.+)。$/m.exec(read('docs/zh-CN/cli.md'))?.[1] ?? '';
    expect(chinese.split('，').map((part) => part.split(' ')[0])).toEqual(Object.keys(EXIT_MEANINGS));
  });

  it('every scope is in the configuration', () => {
    const spans = codeSpansOf(read('docs/configuration.md'));
    expect(SCOPES.filter((scope) => !spans.includes(scope))).toEqual([]);
  });

  it('every message of devices, and no other, is in their guide', () => {
    const tables = tablesOf(read('docs/guides/devices.md')).filter(
      ([head = []]) => head[0] === 'device sends',
    );
    const column = (at: number): string[] =>
      tables.flatMap(([, ...rows]) =>
        rows.flatMap((row) =>
          codeSpansOf(row[at] ?? '').flatMap((span) => /^[a-z_]+(?= \{|$)/.exec(span) ?? []),
        ),
      );
    const named = (at: number, frames: ReadonlyMap<string, unknown>): string[] =>
      [...new Set(column(at).filter((name) => frames.has(name) || !name.includes('id')))].toSorted();
    expect(named(0, DEVICE_FRAMES)).toEqual([...DEVICE_FRAMES.keys()].toSorted());
    expect(named(1, GATEWAY_FRAMES)).toEqual([...GATEWAY_FRAMES.keys()].toSorted());
  });

  it('every event, option and reason to stop of an agent, and no other, is in the guide', () => {
    const page = 'docs/guides/agents.md';
    const events =
      tablesOf(read(page))
        .find(([head = []]) => head[0] === 'channel')
        ?.slice(1) ?? [];
    expect(events.map(([channel = '']) => codeSpansOf(channel)[0])).toEqual(CHANNELS);
    const types = events.flatMap(([, listed = '']) => codeSpansOf(listed));
    expect(types.toSorted()).toEqual(Object.keys(AGENT_EVENTS).toSorted());
    const options =
      tablesOf(read(page))
        .find(([head = []]) => head[0] === 'option')
        ?.slice(1) ?? [];
    const named = options.flatMap(([first = '']) => codeSpansOf(first));
    expect(named.toSorted()).toEqual(Object.keys(AGENT_OPTIONS).toSorted());
    expect(firstCells(page, 'reason').toSorted()).toEqual(Object.keys(STOP_REASONS).toSorted());
  });
});

// Types do not exist at run time: a missing or superfluous name here does not compile.
const AGENT_EVENTS: Readonly<Record<AgentEventType, true>> = {
  text_delta: true,
  'tool:start': true,
  'tool:error': true,
  'tool:end': true,
  done: true,
  permission_required: true,
  permission_decided: true,
  input_required: true,
  input_given: true,
  tool_executed: true,
  tool_custom_event: true,
  state_changed: true,
  model_replied: true,
  repeat_noticed: true,
  error: true,
  agent_resumed: true,
  sub_agent_started: true,
  sub_agent_ended: true,
};

const AGENT_OPTIONS: Readonly<Record<keyof AgentOptions, true>> = {
  board: true,
  model: true,
  id: true,
  name: true,
  system: true,
  tools: true,
  permission: true,
  hooks: true,
  maxIterations: true,
  stopWhen: true,
  budget: true,
  maxDepth: true,
  dialect: true,
  parallel: true,
  settings: true,
  language: true,
  maxResultBytes: true,
  maxRetries: true,
  toolCalling: true,
};

const STOP_REASONS: Readonly<Record<StopReason, true>> = {
  done: true,
  stopped: true,
  max_iterations: true,
  budget: true,
  repeating: true,
  interrupted: true,
  manual: true,
};
