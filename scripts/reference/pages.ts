import { FAILURE_CODES } from '@patchboard/wire';
import { FAILURES, RETRYABLE_BY_OUTCOME } from '../../packages/patchboard/src/core/failures.ts';
import type { ClientErrorCode } from '../../packages/client/src/errors.ts';
import { ERROR_TYPE, ERROR_TYPES } from '../../packages/patchboard/src/transports/tenant-api/error-types.ts';
import type { ParseErrorCode } from '../../packages/patchboard/src/protocols/protocol.ts';
import { ROUTES } from '../../packages/patchboard/src/wiring/apis.ts';
import { CLUSTER_METRICS } from '../../packages/patchboard/src/transports/shared/http/cluster-metrics.ts';
import { METRICS } from '../../packages/patchboard/src/transports/shared/http/metrics.ts';
import { refusalsOf } from '../../packages/patchboard/src/transports/shared/http/mount.ts';
import { HTTP_STATUS } from '../../packages/patchboard/src/transports/shared/routes/problem.ts';
import type { Route, Schema } from '../../packages/patchboard/src/transports/shared/routes/routes.ts';
import { eventsPage } from './events-page.ts';
import { logPage } from './log-page.ts';
import { cell, page, table, type ReferencePage } from './page.ts';

/** In the order of the page; an API without a title does not compile. */
const TITLES: Readonly<Record<Route['api'], string>> = {
  agent: 'Agents',
  mcp: 'MCP clients',
  internal: 'Clients that run tools',
  device: 'Devices',
  tenant: 'Services of a tenant',
  operator: 'Operators',
  console: 'Console',
};

export function referencePages(): readonly ReferencePage[] {
  return [
    { path: 'docs/reference/routes.md', text: routesPage() },
    { path: 'docs/reference/errors.md', text: errorsPage() },
    { path: 'docs/reference/events.md', text: eventsPage() },
    { path: 'docs/reference/metrics.md', text: metricsPage() },
    { path: 'docs/reference/log.md', text: logPage() },
  ];
}

function routesPage(): string {
  const parts = Object.entries(TITLES).flatMap(([api, title]) => [
    `## ${title}`,
    ...ROUTES.filter((route) => route.api === api).map(routeSection),
  ]);
  return page('Routes', [
    'Every route of the server. The same schemas validate requests and generate `GET /openapi.json`.',
    '[Errors](errors.md) explains each code.',
    ...parts,
  ]);
}

function scopeText({ scope }: Route): string {
  if (scope === null) return 'none, open to all';
  return scope === 'any' ? 'none, but a credential is needed' : `\`${scope}\``;
}

function routeSection(route: Route): string {
  const responses = Object.entries(route.responses).map(
    ([status, { description, type }]) =>
      `| ${status} | ${cell(description)}${type === undefined ? '' : ` (\`${type}\`)`} |`,
  );
  const lines = [
    `### ${route.method} ${route.url}`,
    '',
    route.summary,
    '',
    `Scope: ${scopeText(route)}.`,
    ...fieldTable('Query', route.query),
    ...fieldTable('Headers', route.headers),
    ...fieldTable('Body', route.body),
    '',
    '| response | |',
    '| --- | --- |',
    ...responses,
    '',
    `Refusals: ${refusalsOf(route)
      .toSorted((a, b) => HTTP_STATUS[a] - HTTP_STATUS[b] || (a < b ? -1 : 1))
      .map((code) => `\`${code}\` ${HTTP_STATUS[code]}`)
      .join(', ')}.`,
  ];
  return lines.join('\n');
}

function fieldTable(title: string, schema: Schema | undefined): string[] {
  const fields = Object.entries((schema?.['properties'] ?? {}) as Record<string, Schema>);
  if (fields.length === 0) return [];
  const required = (schema?.['required'] ?? []) as readonly string[];
  return [
    '',
    `| ${title.toLowerCase()} | | |`,
    '| --- | --- | --- |',
    ...fields.map(([name, field]) => {
      const note = typeof field['description'] === 'string' ? field['description'] : '';
      return `| \`${name}\`${required.includes(name) ? ' (required)' : ''} | ${cell(kindOf(field))} | ${cell(note)} |`;
    }),
  ];
}

function kindOf(schema: Schema): string {
  if (Array.isArray(schema['enum'])) return schema['enum'].map((value) => `\`${String(value)}\``).join(', ');
  if (Array.isArray(schema['anyOf'])) return schema['anyOf'].map((part: Schema) => kindOf(part)).join(' or ');
  const type = schema['type'];
  if (Array.isArray(type)) return type.join(' or ');
  if (typeof type !== 'string') return 'any JSON';
  const { minimum, maximum } = schema as { minimum?: number; maximum?: number };
  if (minimum === undefined) return type;
  return maximum === undefined ? `${type}, ${minimum} or more` : `${type}, ${minimum} to ${maximum}`;
}

function errorsPage(): string {
  const rows = FAILURE_CODES.map((name) => {
    const { retryable, summary } = FAILURES[name];
    const retry = RETRYABLE_BY_OUTCOME.has(name) ? 'by outcome' : retryable ? 'yes' : 'no';
    return [`\`${name}\``, String(HTTP_STATUS[name]), retry, summary];
  });
  return page('Errors', [
    'Every failure has a `code` from this table, in the `error` of a call record and in a problem document (RFC 9457).',
    'The status is that of a request which is refused with the code; a call that was accepted and failed later is a record, returned with 200.',
    'Worth a retry, `by outcome`: `retryable` is true if the call did not start (`outcome: "not_started"`) or its tool is idempotent, and false if its effect may be there already (`outcome: "unknown"`).',
    table(['code', 'HTTP status', 'worth a retry', 'meaning'], rows),
    '## Codes of the client',
    '`@patchboard/client` throws a `PatchboardError` with the code of the server, or with one that only a client can know:',
    table(['client code', 'meaning'], named(CLIENT_CODES)),
    "## Errors in a model's reply",
    '`POST /v1/parse`, `POST /v1/tool_calls/batch` and `patchboard parse` report one of these codes for a request that cannot be run, with line and column:',
    table(['parse code', 'meaning'], named(PARSE_CODES)),
    '## Kinds of error on the tenant API',
    '`POST /api/tools/call` returns an `error_type`, explained in [the configuration](../configuration.md#the-tenant-api). These are the failure codes of each:',
    table(['error_type', 'codes'], errorTypeRows()),
  ]);
}

/** A code without a row does not compile. */
const CLIENT_CODES: Readonly<Record<ClientErrorCode, string>> = {
  network_error:
    'the server could not be reached, or the connection ended before the response; worth a retry',
  client_timeout: "the caller's own time limit passed; the call itself continues; worth a retry",
  bad_response: 'the response is not from a Patchboard server, or a proxy changed it',
};

/** A code without a row does not compile. */
const PARSE_CODES: Readonly<Record<ParseErrorCode, string>> = {
  block_unclosed: 'a request has no end',
  value_unclosed: 'a value has no end',
  request_nested: 'a request is inside an unclosed value',
  tool_name_missing: 'a request names no tool',
  key_duplicate: 'a key occurs twice in one request',
  batch_too_large: 'one request contains too many calls',
  text_unexpected: 'there is text where a key is expected, or an invalid key',
  reply_invalid: "the vendor's response does not match its format",
  reply_cut: 'the reply ended in the middle',
  arguments_invalid: 'the arguments are not a JSON object',
  problems_omitted: 'counts the problems beyond the first hundred',
};

function named(meanings: Readonly<Record<string, string>>): string[][] {
  return Object.entries(meanings).map(([name, meaning]) => [`\`${name}\``, meaning]);
}

function errorTypeRows(): string[][] {
  return Object.keys(ERROR_TYPES).map((type) => {
    const codes = FAILURE_CODES.filter((name) => ERROR_TYPE[name] === type).map((name) => `\`${name}\``);
    return [`\`${type}\``, codes.length === 0 ? 'none: the call waits' : codes.join(', ')];
  });
}

function metricsPage(): string {
  return page('Metrics', [
    '`GET /metrics` in the text format of Prometheus. Counts are those of the node that responds, unless a label names another.',
    metricsTable(METRICS),
    '## Of nodes that share a store',
    'Only on a store that several nodes can use (PostgreSQL).',
    metricsTable(CLUSTER_METRICS),
  ]);
}

function metricsTable(metrics: Readonly<Record<string, Metric>>): string {
  const rows = Object.entries(metrics).map(([name, { type, labels, help }]) => [
    `\`${name}\``,
    type,
    labels.map((label) => `\`${label}\``).join(', '),
    help,
  ]);
  return table(['name', 'type', 'labels', 'meaning'], rows);
}

interface Metric {
  readonly type: string;
  readonly labels: readonly string[];
  readonly help: string;
}
