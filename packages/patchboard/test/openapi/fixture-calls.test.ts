import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { RegisteredTool } from '../../src/core/tools/registered-tool.ts';
import type { SecuritySettings } from '../../src/sources/openapi/openapi-settings.ts';
import { anOpenApiUpstream } from '../support/an-openapi-upstream.ts';
import { aDescribedApi } from '../support/described-api.ts';
import { exampleOf, type Document } from '../support/schema-example.ts';

/** Calls of one description. */
const CALLS = 12;

/** Arguments that fit the input schema of a tool: the required ones only, except the body. */
function argumentsOf({ inputSchema }: RegisteredTool): Document {
  const { required = [], properties = {} } = inputSchema as { required?: string[]; properties?: Document };
  const names = Object.keys(properties).filter((name) => required.includes(name) || name === 'body');
  return Object.fromEntries(
    names.map((name) => [name, exampleOf({ schema: properties[name] }, inputSchema as Document)]),
  );
}

/** Spread over the list, so that several parts of a large API are called. */
function someOf<Item>(items: readonly Item[]): readonly Item[] {
  const step = Math.max(1, Math.floor(items.length / CALLS));
  return items.filter((_, index) => index % step === 0).slice(0, CALLS);
}

/** A credential for every scheme that the description defines. */
function credentialsOf(document: Document): Record<string, SecuritySettings> {
  const { securitySchemes = {} } = (document['components'] ?? {}) as { securitySchemes?: Document };
  return Object.fromEntries(
    Object.keys(securitySchemes).map((name) => [name, { kind: 'value', value: 'v' }]),
  );
}

// The patterns keep the test short: another one imports the whole descriptions.
describe.each([
  ['uspto.json', ['*']],
  ['github.json', ['issues_*']],
  ['figma.yaml', ['*']],
  ['box.json', ['*file*']],
])('the description %s of a real service', (file, patterns) => {
  it('is served by a local server, and its operations are called', async () => {
    const path = join(import.meta.dirname, 'fixtures', file);
    const text = await readFile(path, 'utf8');
    const document = (file.endsWith('.json') ? JSON.parse(text) : parse(text)) as Document;
    const api = await aDescribedApi(document);
    const { becomes, call, engine } = await anOpenApiUpstream({
      description: { kind: 'file', path },
      server: api.origin,
      tools: patterns,
      security: credentialsOf(document),
    });
    await becomes('connected');
    // Destructive tools ask for approval.
    const tools = (engine.upstreams.find('shop')?.tools ?? []).filter(
      ({ annotations }) => annotations.destructive !== true,
    );
    const chosen = someOf(tools);
    expect(chosen.length).toBeGreaterThan(2);
    const ends: unknown[] = [];
    for (const tool of chosen) {
      const { state } = await call(tool.name, argumentsOf(tool));
      ends.push([tool.name, 'error' in state ? state.error.message : state.name]);
    }
    expect(ends).toEqual(chosen.map(({ name }) => [name, 'COMPLETED']));
    const operations = chosen.map(({ metadata }) => metadata?.['operation']);
    expect(api.requests.map(({ method, template }) => `${method} ${template}`)).toEqual(operations);
  });
});
