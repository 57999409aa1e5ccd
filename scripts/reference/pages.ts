import { FAILURE_CODES } from '@patchboard/wire';
import { FAILURES } from '../../packages/patchboard/src/core/failures.ts';
import { agentRoutes } from '../../packages/patchboard/src/transports/agent-api/routes.ts';
import { consoleRoutes } from '../../packages/patchboard/src/transports/console/routes.ts';
import { internalRoutes } from '../../packages/patchboard/src/transports/internal-api/routes.ts';
import { tenantRoutes } from '../../packages/patchboard/src/transports/tenant-api/routes.ts';
import { operatorRoutes } from '../../packages/patchboard/src/transports/operator-api/routes.ts';
import { METRICS } from '../../packages/patchboard/src/transports/shared/metrics.ts';
import { refusalsOf } from '../../packages/patchboard/src/transports/shared/mount.ts';
import { HTTP_STATUS } from '../../packages/patchboard/src/transports/shared/problem.ts';
import type { Route, Schema } from '../../packages/patchboard/src/transports/shared/routes.ts';

/** A page that is made from the code: its path from the root of the repository, and its text. */
export interface ReferencePage {
  readonly path: string;
  readonly text: string;
}

export const NOTE = 'Made from the code by `npm run reference`; do not edit.';

const FACES: readonly { title: string; routes: readonly Route[] }[] = [
  { title: 'Agents', routes: agentRoutes },
  { title: 'Clients that lend tools', routes: internalRoutes },
  { title: 'Services of a tenant', routes: tenantRoutes },
  { title: 'Operators', routes: operatorRoutes },
  { title: 'People', routes: consoleRoutes },
];

export function referencePages(): readonly ReferencePage[] {
  return [
    { path: 'docs/reference/routes.md', text: routesPage() },
    { path: 'docs/reference/errors.md', text: errorsPage() },
    { path: 'docs/reference/metrics.md', text: metricsPage() },
  ];
}

function routesPage(): string {
  const parts = FACES.flatMap(({ title, routes }) => [`## ${title}`, ...routes.map(routeSection)]);
  return page('Routes', [
    'Every route of the server. The same schemas validate requests and make `GET /openapi.json`.',
    'What each code means is in [errors](errors.md).',
    ...parts,
  ]);
}

function routeSection(route: Route): string {
  const answers = Object.entries(route.answers).map(
    ([status, { description, type }]) =>
      `| ${status} | ${cell(description)}${type === undefined ? '' : ` (\`${type}\`)`} |`,
  );
  const lines = [
    `### ${route.method} ${route.url}`,
    '',
    route.summary,
    '',
    `Scope: ${route.scope === null ? 'none, open to all' : `\`${route.scope}\``}.`,
    ...fieldTable('Query', route.query),
    ...fieldTable('Headers', route.headers),
    ...fieldTable('Body', route.body),
    '',
    '| answers | |',
    '| --- | --- |',
    ...answers,
    '',
    `Refuses with ${refusalsOf(route)
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
  const rows = FAILURE_CODES.map((code) => {
    const { retryable, summary } = FAILURES[code];
    return `| \`${code}\` | ${HTTP_STATUS[code]} | ${retryable ? 'yes' : 'no'} | ${cell(summary)} |`;
  });
  return page('Errors', [
    'Every failure has a `code` from this table, in the `error` of a call record and in a problem document (RFC 9457).',
    'The status is that of a request which is refused with the code; a call that was accepted and failed later is a record, answered with 200.',
    ['| code | HTTP status | worth a retry | meaning |', '| --- | --- | --- | --- |', ...rows].join('\n'),
  ]);
}

function metricsPage(): string {
  const rows = Object.entries(METRICS).map(([name, { type, labels, help }]) => {
    const named = labels.map((label) => `\`${label}\``).join(', ');
    return `| \`${name}\` | ${type} | ${named} | ${cell(help)} |`;
  });
  return page('Metrics', [
    '`GET /metrics` in the text format of Prometheus.',
    ['| name | type | labels | meaning |', '| --- | --- | --- | --- |', ...rows].join('\n'),
  ]);
}

function page(title: string, parts: readonly string[]): string {
  return `${[`# ${title}`, NOTE, ...parts].join('\n\n')}\n`;
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ');
}
