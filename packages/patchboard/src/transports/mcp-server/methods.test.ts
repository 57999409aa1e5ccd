import * as sdk from '@modelcontextprotocol/core';
import { describe, expect, it } from 'vitest';
import type { Era } from './exchange.ts';
import { METHODS } from './methods.ts';

/** Requests that servers send to clients. */
const OF_SERVERS = ['elicitation/create', 'sampling/createMessage', 'roots/list'];

/** Tasks of 2025-11-25 are another protocol than the tasks extension, and are not offered. */
const EARLIER_TASKS = ['tasks/get', 'tasks/list', 'tasks/cancel', 'tasks/result'];

/** The dispatcher handles it before it looks for a method. */
const OPENING = ['initialize'];

/** The methods of the SDK that one era alone has. */
const ONLY: Readonly<Record<Era, readonly string[]>> = {
  modern: ['server/discover', 'subscriptions/listen'],
  legacy: [...OPENING, 'ping', 'logging/setLevel', 'resources/subscribe', 'resources/unsubscribe'],
};

/** Methods of the tasks extension, for which the SDK has no schemas. */
const TASKS_EXTENSION = ['tasks/get', 'tasks/update', 'tasks/cancel'];

function methodsOfSdk(): readonly string[] {
  const found = Object.entries(sdk)
    .filter(([name]) => name.endsWith('RequestSchema'))
    .flatMap(([, schema]) => methodOf(schema) ?? []);
  return [...new Set(found)].toSorted();
}

/** The literal of `method` in the schema of a request; undefined for schemas of any request. */
function methodOf(schema: unknown): string | undefined {
  const { shape } = schema as { shape?: { method?: { value?: unknown } } };
  const value = shape?.method?.value;
  return typeof value === 'string' ? value : undefined;
}

describe('the methods', () => {
  const known = methodsOfSdk();

  it('are compared with more than a few of the SDK', () => {
    expect(known).toEqual(expect.arrayContaining(['tools/call', 'subscriptions/listen', 'roots/list']));
  });

  it.each([
    ['modern', 'legacy'],
    ['legacy', 'modern'],
  ] as const)('of the %s era are all that the SDK knows', (era, other) => {
    const left = new Set([...OF_SERVERS, ...EARLIER_TASKS, ...OPENING, ...ONLY[other]]);
    const expected = known.filter((method) => !left.has(method));
    const extension = era === 'modern' ? TASKS_EXTENSION : [];
    expect(Object.keys(METHODS[era]).toSorted()).toEqual([...expected, ...extension].toSorted());
  });

  it('have schemas that demand the method of the SDK', () => {
    for (const methods of Object.values(METHODS))
      for (const [name, { schema }] of Object.entries(methods)) {
        const method = methodOf(schema);
        if (method === undefined) expect(TASKS_EXTENSION).toContain(name);
        else expect(method).toBe(name);
      }
  });
});
