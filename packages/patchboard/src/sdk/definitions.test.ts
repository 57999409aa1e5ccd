import { createRequire } from 'node:module';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import * as mini from 'zod/mini';
import { z as three } from 'zod/v3';
import { aBoard } from '../../test/support/a-board.ts';
import { createPatchboard, tool, ToolRegistry, type BoardOptions } from '../index.ts';

/** Mistakes in definitions throw immediately, with an error that names the mistake, its place and the likely intention. */

const execute = (): number => 1;
const preToolUse = (): void => {};
/** The module as a CommonJS program loads it. */
const { z: other } = createRequire(import.meta.url)('zod') as { readonly z: typeof z };

describe('tool()', () => {
  it.each<[unknown, string]>([
    [null, 'tool() takes a name and a function, or an object with name and execute; it is null'],
    [undefined, 'tool() takes a name and a function, or an object with name and execute; it is undefined'],
    [{ name: 't' }, 'tool t: execute must be a function; it is undefined'],
    [{ name: 't', exec: execute }, 'tool t: exec is not known; did you mean execute?'],
    [{ name: 't', execute, handler: execute }, 'tool t: handler is not known; known are'],
    [{ name: 't', execute, paramaters: {} }, 'tool t: paramaters is not known; did you mean parameters?'],
    [
      { name: 't', execute, parameters: 'x' },
      "tool t: parameters must be a zod schema or a JSON Schema; it is 'x'",
    ],
    [
      { name: 't', execute, parameters: three.object({ n: three.number() }) },
      'tool t: parameters is a schema of an unsupported library: use zod 4 or a JSON Schema',
    ],
    [
      { name: 't', execute, output: { '~standard': { version: 1, vendor: 'valibot' } } },
      'tool t: output is a schema of an unsupported library: use zod 4 or a JSON Schema',
    ],
    [{ name: 't', execute, description: 7 }, 'tool t: description must be a text; it is 7'],
    [
      { name: 't', execute, metadata: { timeoutMs: 5 } },
      'tool t: metadata.timeoutMs is not known; did you mean timeout?',
    ],
    [
      { name: 't', execute, metadata: { readOnly: true } },
      'tool t: metadata.readOnly is not known; did you mean readonly?',
    ],
    [
      { name: 't', execute, metadata: { timeout: '5s' } },
      "tool t: metadata.timeout must be a whole number of at least 1; it is '5s'",
    ],
    [{ name: 't', execute, metadata: { tags: 'a' } }, "tool t: metadata.tags must be a list: write ['a']"],
    [
      { name: 't', execute, metadata: { concurrent: 'no' } },
      "tool t: metadata.concurrent must be true or false; it is 'no'",
    ],
    [
      { name: 't', execute, hooks: { preToolUSe: preToolUse } },
      'tool t: hooks.preToolUSe is not known; did you mean preToolUse?',
    ],
    [
      { name: 't', execute, hooks: { preToolUse: true } },
      'tool t: hooks.preToolUse must be a function; it is true',
    ],
    [{ name: 't', execute, hooks: preToolUse }, 'tool t: hooks must be an object; it is a function'],
  ])('refuses %j', (given, problem) => {
    expect(() => tool(given as never)).toThrow(TypeError);
    expect(() => tool(given as never)).toThrow(problem);
  });

  it('throws for an invalid name, and for an execute that is not a function', () => {
    for (const name of ['two words', '', '..', 'n'.repeat(129)]) {
      expect(() => tool(name, execute)).toThrow('a name is 1 to 128 of A-Z a-z 0-9 _ . -');
      expect(() => tool({ name, execute })).toThrow('bad tool name');
    }
    expect(() => tool({ name: 7, execute } as never)).toThrow('bad tool name: 7');
    expect(() => tool('t', 'x' as never)).toThrow("tool t: execute must be a function; it is 'x'");
  });

  it('accepts every documented member, and members that are undefined', () => {
    const made = tool({
      name: 't',
      description: '',
      parameters: z.object({}),
      output: { type: 'number' },
      metadata: { version: '1', tags: ['a'], timeout: 5, cacheTtl: undefined } as object,
      hooks: { preToolUse, postToolUse: undefined } as object,
      execute,
    });
    expect(made.name).toBe('t');
  });

  it.each([
    ['zod/mini', mini.object({ n: mini.number().check(mini.refine((n) => n !== 13)) })],
    ['another copy of zod', other.object({ n: other.number().refine(async (n) => n !== 13) })],
  ])('accepts schemas of %s', async (_whose, parameters) => {
    const board = await aBoard({ tools: [tool({ name: 't', parameters, execute: ({ n }) => n })] });
    expect(board.tools()[0]?.inputSchema).toMatchObject({ properties: { n: { type: 'number' } } });
    expect(await board.call('t', { n: 7 })).toMatchObject({ result: 7 });
    await expect(board.call('t', { n: 'seven' })).rejects.toMatchObject({
      failure: { code: 'input_invalid' },
    });
    expect(await board.call('t', { n: 13 })).toMatchObject({ code: 'input_invalid' });
  });

  it('accepts hooks that are a class instance with other members', () => {
    class Counting {
      count = 0;
      preToolUse(): void {
        this.count += 1;
      }
    }
    expect(() => tool({ name: 't', execute, hooks: new Counting() })).not.toThrow();
    expect(() => tool({ name: 't', execute, hooks: new Map() as never })).toThrow(
      'tool t: hooks has none of preToolUse, postToolUse, messagesChanged',
    );
  });
});

describe('a registry', () => {
  it.each<[unknown, string]>([
    [null, 'a tool is made by tool(), or has name, description, input_schema and exec(); it is null'],
    [
      { name: 'x' },
      'a tool is made by tool(), or has name, description, input_schema and exec(); it is an object',
    ],
    [{ name: 'x', parameters: z.object({}), execute }, 'tool x: write tool({…}) around it'],
    [
      { name: 'x', description: '', exec: execute },
      'tool x: input_schema must be a JSON Schema; it is undefined',
    ],
    [
      { name: 'x', description: '', input_schema: z.object({}), exec: execute },
      'tool x: input_schema is a schema of an unsupported library: use zod 4 or a JSON Schema',
    ],
    [{ name: 'x', description: '', input_schema: {}, exec: 1 }, 'tool x: exec must be a function; it is 1'],
    [
      { name: 'x', description: '', input_schema: {}, exec: execute, metadata: { tag: [] } },
      'tool x: metadata.tag is not known; did you mean tags?',
    ],
    [
      { name: 'x', description: '', input_schema: {}, exec: execute, hooks: { postToolUsed: preToolUse } },
      'tool x: hooks.postToolUsed is not known; did you mean postToolUse?',
    ],
  ])('refuses %j', (given, problem) => {
    expect(() => new ToolRegistry().register(given as never)).toThrow(TypeError);
    expect(() => new ToolRegistry().register(given as never)).toThrow(problem);
  });
});

describe('createPatchboard()', () => {
  it.each<[unknown, string]>([
    [null, 'the options of a board must be an object; it is null'],
    [{ tool: [] }, 'tool is not known; did you mean tools?'],
    [{ tools: tool('t', execute) }, 'tools must be a list of tools or a ToolRegistry; it is an object'],
    [{ store: './data' }, "store must be memory(), sqlite(folder) or postgres(url); it is './data'"],
    [{ hooks: { preToolUSe: preToolUse } }, 'hooks.preToolUSe is not known; did you mean preToolUse?'],
    [
      { hooks: [{}, { pretooluse: preToolUse }] },
      'hooks[1].pretooluse is not known; did you mean preToolUse?',
    ],
    [
      { limits: { concurencyPerRun: 5 } },
      'limits.concurencyPerRun is not known; did you mean concurrencyPerRun?',
    ],
    [{ limits: { drainMs: -5 } }, 'limits.drainMs must be a whole number of at least 1; it is -5'],
    [{ redact: 'password' }, "redact must be a list: write ['password']"],
    [{ http: { allowedHost: [] } }, 'http.allowedHost is not known; did you mean allowedHosts?'],
    [{ policy: { defualt: {} } }, 'policy/defualt is not known'],
    [{ log: execute }, 'log must have info, warn and error; it is a function'],
  ])('refuses %j', async (options, problem) => {
    await expect(createPatchboard(options as BoardOptions)).rejects.toMatchObject({
      name: 'BoardError',
      failure: { code: 'body_invalid' },
      message: expect.stringContaining(problem) as string,
    });
  });

  it('returns a board whose methods throw for invalid options', async () => {
    const board = await aBoard({ tools: [tool('t', execute)] });
    const refused = async (asked: Promise<unknown>, problem: string): Promise<void> =>
      await expect(asked).rejects.toMatchObject({ name: 'BoardError', message: problem });
    const name = 'must be 1 to 200 visible ASCII characters without spaces';
    await refused(board.call('t', {}, { agentId: '' }), `agentId ${name}; it is ''`);
    await refused(board.call('t', {}, { runId: 'a b' }), `runId ${name}; it is 'a b'`);
    await refused(board.call('t', {}, { idempotencyKey: '' }), `idempotencyKey ${name}; it is ''`);
    await refused(board.call('t', {}, { run: 'x' } as never), 'run is not known; did you mean runId?');
    await refused(
      board.call('t', {}, { agentId: 'operator' }),
      'agentId must not be operator: that is the operator, who decides approvals',
    );
    const { id } = await board.call('t');
    await refused(board.decide(id, 'allow', { decidedBy: '' }), `decidedBy ${name}; it is ''`);
    await refused(board.decide(id, 'deny', { note: 7 } as never), 'note must be a text; it is 7');
  });
});
