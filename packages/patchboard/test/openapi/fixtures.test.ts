import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { JsonSchema, ReasonView } from '@patchboard/wire';
import { describe, expect, it } from 'vitest';
import { jsonSchemas } from '../../src/schemas/json-schemas.ts';
import type { Operation } from '../../src/sources/openapi/operation.ts';
import { importText, type Imported } from '../support/a-description.ts';

async function imported(file: string, patterns?: readonly string[]): Promise<Imported> {
  return importText(await readFile(join(import.meta.dirname, 'fixtures', file), 'utf8'), patterns);
}

function countsOf(codes: readonly string[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const code of codes) counts[code] = (counts[code] ?? 0) + 1;
  return counts;
}

/** What the test compares: how many tools, with a result schema, with each method and body, and why others are rejected. */
function summary({ tools, rejected }: Imported): object {
  const targets = tools.map(({ target }) => target as Operation);
  const leftOut = tools.flatMap(({ metadata }) => (metadata?.['output_schema_left_out'] ?? []) as ReasonView);
  return {
    tools: tools.length,
    outputs: tools.filter(({ outputSchema }) => outputSchema !== null).length,
    methods: countsOf(targets.map(({ method }) => method)),
    bodies: countsOf(targets.flatMap(({ body }) => body?.mediaType ?? [])),
    parameters: countsOf(targets.flatMap(({ parameters }) => parameters.map((one) => one.in))),
    outputsLeftOut: countsOf(leftOut.map(({ code }) => code)),
    rejected: countsOf(rejected.flatMap(({ reasons }) => reasons?.[0]?.code ?? [])),
  };
}

describe.each([
  [
    'uspto.json',
    {
      tools: 3,
      outputs: 3,
      methods: { GET: 2, POST: 1 },
      bodies: { 'application/x-www-form-urlencoded': 1 },
      parameters: { path: 4 },
      outputsLeftOut: {},
      rejected: {},
    },
  ],
  [
    'github.json',
    {
      tools: 500,
      outputs: 371,
      methods: { GET: 238, POST: 91, PATCH: 42, PUT: 39, DELETE: 90 },
      bodies: { 'application/json': 148, 'text/plain': 1, '*/*': 1 },
      parameters: { path: 1057, query: 333 },
      outputsLeftOut: {},
      rejected: { operation_over_count: 131 },
    },
  ],
  [
    'figma.yaml',
    {
      tools: 54,
      outputs: 51,
      methods: { GET: 42, POST: 6, PUT: 2, DELETE: 4 },
      bodies: { 'application/json': 8 },
      parameters: { path: 49, query: 79 },
      outputsLeftOut: { schema_over_bytes: 2 },
      rejected: {},
    },
  ],
  [
    'box.json',
    {
      tools: 260,
      outputs: 208,
      methods: { GET: 114, OPTIONS: 2, POST: 61, PUT: 42, DELETE: 41 },
      bodies: {
        'application/json': 86,
        'application/json-patch+json': 9,
        'application/octet-stream': 1,
        'application/x-www-form-urlencoded': 3,
        'multipart/form-data': 3,
      },
      parameters: { path: 199, query: 243, header: 29 },
      outputsLeftOut: {},
      rejected: {},
    },
  ],
])('the description %s', (file, expected) => {
  it('becomes tools whose schemas compile under the limits for outside schemas', async () => {
    const description = await imported(file);
    expect(summary(description)).toEqual(expected);
    // Another instance than the one of the import: nothing is in its cache.
    const schemas = jsonSchemas();
    const given = description.tools.flatMap(({ inputSchema, outputSchema }) => [inputSchema, outputSchema]);
    const problems = given
      .filter((schema): schema is JsonSchema => schema !== null)
      .map((schema) => schemas.compile(schema, 'outside'))
      .filter((compiled) => !compiled.ok);
    expect(problems).toEqual([]);
  });
});

it('the pattern in the reason offers what the limit of 500 tools rejects', async () => {
  const { rejected } = await imported('github.json');
  const [first] = rejected;
  const pattern = first?.reasons?.[0]?.params['pattern'] as string;
  expect([first?.name, pattern]).toEqual(['shop.activity_list-watchers-for-repo', 'activity_*']);
  const selected = await imported('github.json', [pattern]);
  expect(selected.tools.map(({ name }) => name)).toContain(first?.name);
  expect(selected.rejected).toEqual([]);
});
